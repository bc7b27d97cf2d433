// Parses the requests of a connection to the scripted upstream from its bytes and returns them in
// order.

import type { Socket } from 'node:net';

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
  /** Which of this server's upstreams was asked: see `site`. Empty for the one without a name. */
  readonly site: string;
  /** How many requests for this model came before, at the same site. */
  readonly earlier: number;
  readonly atMs: number;
};

const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');

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
    dialect: path.endsWith('/messages') ? 'messages' : 'chat',
    site,
    earlier: countEarlier(site, model),
    atMs: Date.now(),
  };
}
