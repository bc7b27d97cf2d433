// Parses the requests of a connection to the scripted upstream from its bytes and returns them in
// order.

import type { Socket } from 'node:net';
import { readChunks, readHead } from './http-bytes.ts';
import type { WireDialect } from './render.ts';

/** One request as the upstream got it. `body` is the parsed JSON, `text` the bytes as text. */
export type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly model: string;
  readonly stream: boolean;
  readonly dialect: WireDialect;
  /** Which of this server's upstreams was asked: see `site`. Empty for the one without a name. */
  readonly site: string;
  /** How many requests for this model came before, at the same site. */
  readonly earlier: number;
  readonly atMs: number;
};

/** Cuts requests out of the bytes of one connection and hands them on one after the other. */
export function readRequests(
  socket: Socket,
  countEarlier: (site: string, model: string) => number,
  serve: (request: RecordedRequest) => Promise<void>,
): void {
  let buffered: Buffer = Buffer.alloc(0);
  let busy = false;

  async function advance(): Promise<void> {
    if (busy) return;
    const head = readHead(buffered);
    const read = head && readBody(head.headers, head.rest);
    if (head === undefined || read === undefined) return;
    const { first, headers } = head;
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
  if (headers['transfer-encoding'] !== undefined) return readChunks(bytes);
  const length = Number(headers['content-length'] ?? 0);
  if (bytes.length < length) return undefined;
  return { text: bytes.toString('utf8', 0, length), rest: bytes.subarray(length) };
}

function describe(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  text: string,
  countEarlier: (site: string, model: string) => number,
): RecordedRequest {
  const body: Record<string, unknown> = text.startsWith('{') ? JSON.parse(text) : {};
  const model = String(body['model'] ?? '');
  const site = /^\/([^/]+)\/v1\//.exec(path)?.[1] ?? '';
  return {
    method,
    path,
    headers,
    text,
    body,
    model,
    stream: body['stream'] === true,
    dialect: dialectOf(path),
    site,
    earlier: countEarlier(site, model),
    atMs: Date.now(),
  };
}

function dialectOf(path: string): WireDialect {
  if (path.endsWith('/messages')) return 'messages';
  return path.endsWith('/responses') ? 'responses' : 'chat';
}
