// A scripted upstream: a real server on port 0 that speaks both dialects. The name of the requested
// model picks what it does (behaviours.ts). Bytes, resets and half-closes are under control because
// it writes HTTP by hand on a raw socket. Tests of the whole gateway and of the client use it.

import { createServer, type Socket } from 'node:net';
import { type Behaviour, behaviourFor } from './behaviours.ts';

/** One request as the upstream got it. `body` is the parsed JSON, `text` the bytes as text. */
export type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly model: string;
  readonly stream: boolean;
  readonly dialect: 'chat' | 'messages';
  /** How many requests for this model came before. */
  readonly earlier: number;
  readonly atMs: number;
};

/** What a behaviour works with: the request, and the bytes of the answer. */
export type Exchange = {
  readonly request: RecordedRequest;
  /** True once the other side has closed the connection. */
  readonly gone: () => boolean;
  /** Waits, but no longer than the connection lives. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Waits until the other side has closed the connection. */
  readonly untilGone: () => Promise<void>;
  /** Writes status line and headers. A body without `content-length` is sent in chunks. */
  readonly head: (status: number, headers: Readonly<Record<string, string>>) => void;
  /** Writes a piece of the body; each call is one chunk and one write to the socket. */
  readonly write: (piece: string | Uint8Array) => void;
  /** Writes bytes as they are: for answers whose HTTP is wrong, written by hand to their end. */
  readonly raw: (bytes: string | Uint8Array) => void;
  /** Ends the body as HTTP wants it; the connection stays usable. */
  readonly end: () => void;
  /** Closes the connection in the middle of whatever it was doing: the other side reads an end. */
  readonly cut: () => void;
  /** Resets the connection: the other side reads an error. */
  readonly reset: () => void;
};

export type Upstream = {
  /** For the chat dialect with `/v1`, as in `http://127.0.0.1:1234/v1`. */
  readonly baseUrl: string;
  /** For the messages dialect, without `/v1`. */
  readonly messagesBaseUrl: string;
  readonly requests: RecordedRequest[];
  /** Connections that are open now. */
  readonly connections: () => number;
  /** Answers that were under way when the other side closed the connection. */
  readonly aborted: () => number;
  /** Answers that are under way now. */
  readonly active: () => number;
  /** Waits until `condition` holds; fails after `timeoutMs` (5 s). */
  readonly waitFor: (
    condition: (upstream: Upstream) => boolean,
    timeoutMs?: number,
  ) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** Starts one. `extra` adds behaviours by model name, or replaces built-in ones. */
export async function startUpstream(
  extra: Readonly<Record<string, Behaviour>> = {},
): Promise<Upstream> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let aborted = 0;
  let active = 0;

  async function serve(
    request: RecordedRequest,
    socket: Socket,
    connection: ConnectionEnd,
  ): Promise<void> {
    requests.push(request);
    const { exchange, ended } = createExchange(request, socket, connection);
    active += 1;
    const behaviour = extra[request.model] ?? behaviourFor(request.model);
    await behaviour(exchange);
    active -= 1;
    if (!ended() && connection.gone()) aborted += 1;
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const count = (model: string) => requests.filter((request) => request.model === model).length;
    const connection = trackEnd(socket);
    readRequests(socket, count, (request) => serve(request, socket, connection));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const origin = `http://127.0.0.1:${address.port}`;

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const upstream: Upstream = {
    baseUrl: `${origin}/v1`,
    messagesBaseUrl: origin,
    requests,
    connections: () => sockets.size,
    aborted: () => aborted,
    active: () => active,
    waitFor: (condition, timeoutMs) => waitUntil(() => condition(upstream), timeoutMs),
    close,
    [Symbol.asyncDispose]: close,
  };
  return upstream;
}

/** Polls until `condition` holds; fails after `timeoutMs`. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 5_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error(`no such thing within ${timeoutMs} ms: ${condition}`);
    await Bun.sleep(2);
  }
}

type ConnectionEnd = { readonly gone: () => boolean; readonly untilGone: Promise<void> };

/** The other side may close only its half (a FIN): for HTTP/1.1 that is an abort as well. */
function trackEnd(socket: Socket): ConnectionEnd {
  let gone = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    gone = true;
    resolve();
  };
  socket.once('end', end);
  socket.once('close', end);
  return { gone: () => gone, untilGone: promise };
}

function createExchange(
  request: RecordedRequest,
  socket: Socket,
  connection: ConnectionEnd,
): { exchange: Exchange; ended: () => boolean } {
  let chunked = true;
  let ended = false;
  const exchange: Exchange = {
    request,
    gone: connection.gone,
    sleep: (milliseconds) => Promise.race([Bun.sleep(milliseconds), connection.untilGone]),
    untilGone: () => connection.untilGone,
    head: (status, headers) => {
      chunked = headers['content-length'] === undefined;
      const all = chunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers;
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`);
    },
    write: (piece) => {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece);
      if (bytes.length === 0 || connection.gone()) return;
      if (!chunked) socket.write(bytes);
      else
        socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]));
    },
    raw: (bytes) => {
      chunked = false;
      if (!connection.gone()) socket.write(bytes);
    },
    end: () => {
      if (chunked && !connection.gone()) socket.write('0\r\n\r\n');
      ended = !connection.gone();
    },
    cut: () => {
      ended = true;
      socket.end();
    },
    reset: () => {
      ended = true;
      socket.resetAndDestroy();
    },
  };
  return { exchange, ended: () => ended };
}

const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');

/** Cuts requests out of the bytes of one connection and hands them on one after the other. */
function readRequests(
  socket: Socket,
  countEarlier: (model: string) => number,
  serve: (request: RecordedRequest) => Promise<void>,
): void {
  let buffered: Buffer = Buffer.alloc(0);
  let busy = false;

  async function advance(): Promise<void> {
    if (busy) return;
    const headLength = buffered.indexOf(HEAD_END);
    if (headLength === -1) return;
    const [first = '', ...lines] = buffered.toString('latin1', 0, headLength).split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const rest = buffered.subarray(headLength + HEAD_END.length);
    const read = readBody(headers, rest);
    if (read === undefined) return;
    buffered = read.rest;
    busy = true;
    const [method = '', path = ''] = first.split(' ');
    await serve(describe(method, path, headers, read.text, countEarlier));
    busy = false;
    await advance();
  }

  socket.on('data', (bytes) => {
    buffered = Buffer.concat([buffered, Buffer.from(bytes)]);
    void advance();
  });
}

/** The body as text and the bytes after it; `undefined` while it is not complete. */
function readBody(
  headers: Readonly<Record<string, string>>,
  bytes: Buffer,
): { text: string; rest: Buffer } | undefined {
  if (headers['transfer-encoding'] === undefined) {
    const length = Number(headers['content-length'] ?? 0);
    if (bytes.length < length) return undefined;
    return { text: bytes.toString('utf8', 0, length), rest: bytes.subarray(length) };
  }
  const parts: Buffer[] = [];
  let position = 0;
  while (true) {
    const lineEnd = bytes.indexOf(CRLF, position);
    if (lineEnd === -1) return undefined;
    const length = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16);
    const end = lineEnd + 2 + length + 2;
    if (bytes.length < end) return undefined;
    if (length === 0) return { text: Buffer.concat(parts).toString(), rest: bytes.subarray(end) };
    parts.push(bytes.subarray(lineEnd + 2, end - 2));
    position = end;
  }
}

function describe(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  text: string,
  countEarlier: (model: string) => number,
): RecordedRequest {
  const body: Record<string, unknown> = text.startsWith('{') ? JSON.parse(text) : {};
  const model = String(body['model'] ?? '');
  return {
    method,
    path,
    headers,
    text,
    body,
    model,
    stream: body['stream'] === true,
    dialect: path.includes('/messages') ? 'messages' : 'chat',
    earlier: countEarlier(model),
    atMs: Date.now(),
  };
}
