// HTTP over a raw socket: for requests that no client library would send, and to see what remains
// on a connection after a refusal. Parses answers as a strict client does.

import { connect, type Socket } from 'node:net';
import type { Caller } from './client.ts';
import { readChunks, readHead } from './http-bytes.ts';

export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

export type RawConnection = {
  /** Writes, and waits until the bytes have left or the connection is gone. */
  readonly write: (bytes: string | Uint8Array) => Promise<void>;
  /** The next whole answer; `undefined` when the connection ends first. */
  readonly answer: (to?: 'HEAD') => Promise<RawAnswer | undefined>;
  /** Everything received so far that no answer has taken. */
  readonly rest: () => string;
  readonly closed: () => boolean;
  readonly untilClosed: () => Promise<void>;
  /** Closes the sending side and goes on reading. */
  readonly end: () => void;
  readonly pause: () => void;
  readonly destroy: () => void;
  readonly [Symbol.dispose]: () => void;
};

/** Opens a connection to a gateway. Dispose of it. */
export async function openConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let received: Buffer = Buffer.alloc(0);
  let closed = false;
  let changed = Promise.withResolvers<void>();
  const signal = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  const gone = Promise.withResolvers<void>();
  const close = () => {
    closed = true;
    gone.resolve();
    signal();
  };
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, Buffer.from(bytes)]);
    signal();
  });
  socket.on('end', close);
  socket.on('close', close);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.on('error', close);

  async function answer(to?: 'HEAD'): Promise<RawAnswer | undefined> {
    for (;;) {
      const parsed = parseAnswer(received, closed, to === 'HEAD');
      if (parsed !== undefined) {
        received = parsed.rest;
        // A provisional answer is followed by the real one.
        if (parsed.answer.status >= 200) return parsed.answer;
        continue;
      }
      if (closed) return undefined;
      await changed.promise;
    }
  }

  function write(bytes: string | Uint8Array): Promise<void> {
    const written = new Promise<void>((resolve) => {
      socket.write(bytes, () => resolve());
    });
    return Promise.race([written, gone.promise]);
  }

  async function untilClosed(): Promise<void> {
    while (!closed) await changed.promise;
  }

  return {
    write,
    answer,
    rest: () => received.toString('latin1'),
    closed: () => closed,
    untilClosed,
    end: () => socket.end(),
    pause: () => socket.pause(),
    destroy: () => socket.destroy(),
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/** The head of a request with the caller's key. `headers` are lines as they go over the wire. */
export function requestHead(
  caller: Caller,
  target: string,
  headers: readonly string[],
  method = 'POST',
): string {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: gateway.test',
    `authorization: Bearer ${caller.key}`,
    'content-type: application/json',
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** One whole request whose body has a declared length. */
export function wholeRequest(caller: Caller, target: string, body: string | Uint8Array): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
  const head = requestHead(caller, target, [`content-length: ${bytes.length}`]);
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** One piece of a chunked body; an empty one ends it. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const piece = typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes);
  const size = Buffer.from(`${piece.length.toString(16)}\r\n`);
  return Buffer.concat([size, piece, Buffer.from('\r\n')]);
}

/** The first answer of `bytes`; without a length its body reaches to the end of the connection. */
function parseAnswer(
  bytes: Buffer,
  closed: boolean,
  withoutBody: boolean,
): { answer: RawAnswer; rest: Buffer } | undefined {
  const head = readHead(bytes);
  if (head === undefined) return undefined;
  const { first, headers, rest: body } = head;
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
  if (!Number.isInteger(status)) throw new Error(`not a status line: ${first}`);
  const bodiless = withoutBody || status < 200 || status === 204;
  if (bodiless) return { answer: { status, headers, text: '' }, rest: body };
  if (headers['transfer-encoding'] === 'chunked') {
    const read = readChunks(body);
    if (read === undefined) return undefined;
    return { answer: { status, headers, text: read.text }, rest: read.rest };
  }
  const declared = headers['content-length'];
  if (declared === undefined && !closed) return undefined;
  const length = declared === undefined ? body.length : Number(declared);
  if (body.length < length) return undefined;
  const text = body.toString('utf8', 0, length);
  return { answer: { status, headers, text }, rest: body.subarray(length) };
}
