// A scripted upstream: a real server on port 0 that speaks each dialect. The requested model name
// selects its behaviour (behaviours.ts). It writes HTTP by hand on a raw socket, which gives
// control over bytes, resets and half-closes. Used by tests of the gateway and of the client.

import { createServer, type Socket } from 'node:net';
import { PROBE_TEXT } from '../../src/upstream/probe.ts';
import { type Behaviour, behaviourFor } from './behaviours.ts';
import { listen } from './listen.ts';
import { type RecordedRequest, readRequests } from './recorded-request.ts';

export type { RecordedRequest } from './recorded-request.ts';

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
  /** Closes the connection in the middle of an exchange: the other side reads an end. */
  readonly cut: () => void;
  /** Resets the connection: the other side reads an error. */
  readonly reset: () => void;
};

export type BaseUrls = {
  /** For the chat and Responses dialects with `/v1`, as in `http://127.0.0.1:1234/v1`. */
  readonly baseUrl: string;
  /** For the messages dialect, without `/v1`. */
  readonly messagesBaseUrl: string;
};

export type Upstream = BaseUrls & {
  /**
   * One more upstream of this server, under a path of its own: for catalogs in which many upstreams
   * fail without a word to each other. What it is asked has its name as `site`.
   */
  readonly site: (name: string) => BaseUrls;
  /** What a site was asked for callers, in order. */
  readonly asked: (site: string) => readonly RecordedRequest[];
  /** What the gateway asked a site for itself. */
  readonly probed: (site: string) => readonly RecordedRequest[];
  /** What was asked for callers, of all sites. */
  readonly requests: RecordedRequest[];
  /** Connections that are open now. */
  readonly connections: () => number;
  /** Answers that were in progress when the other side closed the connection. */
  readonly aborted: () => number;
  /** Answers in progress now. */
  readonly active: () => number;
  /** Waits until `condition` holds; fails after `timeoutMs` (20 s). */
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
  const bySite = new Map<string, RecordedRequest[]>();
  const probes: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let aborted = 0;
  let active = 0;

  async function serve(
    request: RecordedRequest,
    socket: Socket,
    connection: ConnectionEnd,
  ): Promise<void> {
    if (isProbe(request)) probes.push(request);
    else {
      requests.push(request);
      const book = bySite.get(request.site);
      if (book === undefined) bySite.set(request.site, [request]);
      else book.push(request);
    }
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
    const count = (site: string, model: string) =>
      (bySite.get(site) ?? []).filter((request) => request.model === model).length;
    const connection = trackEnd(socket);
    readRequests(socket, count, (request) => serve(request, socket, connection));
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const upstream: Upstream = {
    baseUrl: `${origin}/v1`,
    messagesBaseUrl: origin,
    site: (name) => ({
      baseUrl: `${origin}/${name}/v1`,
      messagesBaseUrl: `${origin}/${name}`,
    }),
    asked: (site) => bySite.get(site) ?? [],
    probed: (name) => probes.filter(({ site }) => site === name),
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

/** The text of a probe is of one word, in quotes: no test asks for the same. */
function isProbe({ text }: RecordedRequest): boolean {
  return text.includes(`"${PROBE_TEXT}"`);
}

/**
 * Polls until `condition` holds; fails after `timeoutMs`. The last look begins after that time. The
 * longer it waits, the rarer it looks: an account may read only so often in a minute.
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const waitedMs = Date.now() - startedAt;
    const isLast = waitedMs > timeoutMs;
    if (await condition()) return;
    if (isLast) throw new Error(`no such thing within ${timeoutMs} ms: ${condition}`);
    await Bun.sleep(Math.min(2 + waitedMs / 20, 100));
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
