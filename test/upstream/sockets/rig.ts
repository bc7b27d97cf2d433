// A server that speaks raw bytes, over TCP or TLS, and a client that calls it. Shared by the tests
// of this folder.

import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { isFailure, type UpstreamFailure } from '../../../src/core/failure.ts';
import type {
  UpstreamAnswer,
  UpstreamClient,
  UpstreamClientDependencies,
} from '../../../src/upstream/transport.ts';
import { listen } from '../../support/listen.ts';
import { chatUpstream } from '../../support/model.ts';
import { createTestClient } from '../../support/upstream-client.ts';

/** `text` is the whole request; `count` how many this server had before it, `on` this connection. */
export type OnRequest = (
  socket: Socket,
  request: { readonly text: string; readonly count: number; readonly on: number },
) => void;

export type RawServer = {
  readonly port: number;
  readonly accepted: () => number;
  readonly open: () => number;
  readonly requests: () => number;
  readonly sockets: ReadonlySet<Socket>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export async function startRawServer(
  onRequest: OnRequest,
  options: { readonly tls?: TlsOptions; readonly host?: string } = {},
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  let requests = 0;
  const onConnection = (socket: Socket): void => {
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let text = '';
    let on = 0;
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/.exec(text)?.[1]);
      if (head < 0 || text.length < head + 4 + length) return;
      const request = { text, count: requests, on };
      text = '';
      requests += 1;
      on += 1;
      onRequest(socket, request);
    });
  };
  const server: Server =
    options.tls === undefined
      ? createServer({ noDelay: true }, onConnection)
      : createTlsServer(options.tls, onConnection);
  return {
    port: await listen(server, options.host),
    accepted: () => accepted,
    open: () => sockets.size,
    requests: () => requests,
    sockets,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** An answer with a length. */
export function whole(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
}

export type Call = {
  readonly baseUrl?: string;
  readonly body?: string;
  readonly connectMs?: number;
  readonly signal?: AbortSignal;
  readonly transport?: 'sockets' | 'fetch';
  readonly allowLinkLocal?: boolean;
  readonly newConnection?: boolean;
  readonly proxyUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Caller = {
  readonly call: (options?: Call) => Promise<UpstreamAnswer | UpstreamFailure>;
  /** The text of an answer that must be one. */
  readonly text: (options?: Call) => Promise<string>;
  readonly client: UpstreamClient;
  readonly [Symbol.dispose]: () => void;
};

export function createCaller(
  port: number,
  changes: Partial<UpstreamClientDependencies> = {},
): Caller {
  const client = createTestClient(changes);
  const call: Caller['call'] = ({
    baseUrl = `http://127.0.0.1:${port}`,
    body = '{}',
    connectMs = 5_000,
    signal = new AbortController().signal,
    transport = 'sockets',
    allowLinkLocal = false,
    newConnection = false,
    proxyUrl,
    headers = {},
  } = {}) =>
    client.send({
      upstream: {
        ...chatUpstream('raw'),
        baseUrl,
        transport,
        allowLinkLocal,
        ...(proxyUrl === undefined ? {} : { proxyUrl }),
      },
      path: '/chat',
      headers,
      body,
      connectMs,
      newConnection,
      signal,
    });
  return {
    call,
    async text(options) {
      const answer = await call(options);
      if (isFailure(answer)) throw new Error(`${answer.class}: ${answer.detail}`);
      const text = await answer.text();
      if (typeof text !== 'string') throw new Error(`${text.class}: ${text.detail}`);
      return text;
    },
    client,
    [Symbol.dispose]: client.close,
  };
}

export type BodyEnd = { readonly body: string; readonly end: 'done' | 'broken' | UpstreamFailure };

/** Reads an answer piece by piece to its end, of any kind. */
export async function readToEnd(answer: UpstreamAnswer | UpstreamFailure): Promise<BodyEnd> {
  if (isFailure(answer)) return { body: '', end: answer };
  const reader = answer.reader();
  let body = '';
  try {
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) return { body, end: 'done' };
      body += Buffer.from(chunk.value ?? []).toString('latin1');
    }
  } catch {
    return { body, end: 'broken' };
  }
}
