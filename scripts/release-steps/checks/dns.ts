// A name server that knows one name, as Docker's does on its networks: HAProxy finds the nodes by it. Written
// after RFC 1035.

const HEADER_BYTES = 12;
const RESPONSE = 0x8180;
const TYPE_A = 1;
const CLASS_IN = 1;
const TTL_SECONDS = 1;
/** Refers to the name in the question. */
const NAME_POINTER = 0xc000 + HEADER_BYTES;

type Dns = { readonly port: number; readonly [Symbol.asyncDispose]: () => Promise<void> };

/** Answers on 127.0.0.1 with all IPv4 addresses of `name`, and with none of anything else. */
export async function startDns(name: string, addresses: readonly string[]): Promise<Dns> {
  const socket = await Bun.udpSocket({
    hostname: '127.0.0.1',
    socket: {
      data(own, query, port, address) {
        own.send(answerOf(query, name, addresses), port, address);
      },
    },
  });
  return { port: socket.port, [Symbol.asyncDispose]: async () => socket.close() };
}

function answerOf(query: Buffer, name: string, addresses: readonly string[]): Buffer {
  const nameEnd = query.indexOf(0, HEADER_BYTES) + 1;
  const question = query.subarray(HEADER_BYTES, nameEnd + 4);
  const asked = question.toString('latin1', 1, 1 + (question[0] ?? 0));
  const isKnown = asked === name && query.readUInt16BE(nameEnd) === TYPE_A;
  const records = isKnown ? addresses.map(record) : [];
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(RESPONSE, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}

function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(NAME_POINTER, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(CLASS_IN, 4);
  bytes.writeUInt32BE(TTL_SECONDS, 6);
  bytes.writeUInt16BE(4, 10);
  bytes.set(address.split('.').map(Number), 12);
  return bytes;
}
