// A proxy to PostgreSQL that drops, doubles or withholds one reply: a connection out of sync, seen
// from our side.

import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export type ReplyFault = 'drop' | 'double' | 'swallow';

export type ReplyProxy = {
  readonly url: string;
  /** Does this to the reply after `skipped` more of them. `swallow`: to all that follow as well. */
  readonly harm: (fault: ReplyFault, skipped?: number) => void;
  readonly heal: () => void;
  readonly connections: () => number;
  readonly stop: () => void;
};

export async function startReplyProxy(target: string): Promise<ReplyProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let next: { readonly fault: ReplyFault; skipped: number } | undefined;
  let connections = 0;

  /** A reply is all up to the server's word that it is ready for the next question. */
  function pass(reply: Buffer, client: Socket): void {
    if (next === undefined || next.skipped > 0) {
      if (next !== undefined) next.skipped -= 1;
      client.write(reply);
      return;
    }
    if (next.fault === 'swallow') return;
    if (next.fault === 'double') client.write(Buffer.concat([reply, reply]));
    next = undefined;
  }

  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(Number(port), hostname);
    let pending = Buffer.alloc(0);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      pending = Buffer.concat([pending, Buffer.from(data)]);
      for (let end = endOfReply(pending); end > 0; end = endOfReply(pending)) {
        pass(pending.subarray(0, end), client);
        pending = pending.subarray(end);
      }
      // What a session begins with, or asks for in the middle, does not end a reply.
      if (isHarmless(pending, next)) {
        client.write(pending);
        pending = Buffer.alloc(0);
      }
    });
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${await listen(server)}`;
  return {
    url: url.href,
    harm(fault, skipped = 0) {
      next = { fault, skipped };
    },
    heal() {
      next = undefined;
    },
    connections: () => connections,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const READY = 'Z'.charCodeAt(0);
/** Of a statement that is described before its values are sent: nothing is ready after these. */
const DESCRIPTIONS = new Set([...'1tTnRSKN'].map((letter) => letter.charCodeAt(0)));

function* messages(bytes: Buffer): Generator<{ kind: number; end: number }> {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) return;
    yield { kind: bytes[at] ?? 0, end };
    at = end;
  }
}

/** Where the first whole reply ends; 0 where there is none yet. */
function endOfReply(bytes: Buffer): number {
  for (const { kind, end } of messages(bytes)) if (kind === READY) return end;
  return 0;
}

function isHarmless(bytes: Buffer, next: unknown): boolean {
  if (next !== undefined && bytes.length === 0) return false;
  let last = 0;
  for (const { kind, end } of messages(bytes)) {
    if (!DESCRIPTIONS.has(kind)) return false;
    last = end;
  }
  return last === bytes.length;
}
