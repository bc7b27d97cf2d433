// Reads a request body once, as bytes, within the size limit and without decompressing it. The
// runtime discards what a refusal leaves unread, unless the connection ends with it.

import { discard } from '../async/discard.ts';
import type { Deadlines } from '../core/deadlines.ts';
import { GatewayError } from '../core/error.ts';
import type { BodyBytes } from '../generate/pipeline-types.ts';
import { parseBody } from '../wire/body.ts';
import type { ParsedBody } from '../wire/format.ts';
import { BODY_BYTES_MAX } from '../wire/limits.ts';

/** Known to no client: see `weighJson`. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0];

/** A body that takes longer than this to arrive is a stalled sender. */
const BODY_DEADLINE_MS = 30_000;

/** What the smallest chunk takes until all are joined. */
const CHUNK_BYTES_MIN = 256;

type BodyWait = { readonly deadlines: Deadlines };

/**
 * Throws 413, 415 or 400, or what `room` throws. A declared length above the limit is refused
 * without reading.
 */
export async function readBody(
  request: Request,
  waiting: BodyWait,
  room: BodyBytes,
): Promise<ParsedBody> {
  requireJson(request.headers);
  // A length that was sent twice is joined to a list of equal numbers.
  const declared = Number.parseInt(request.headers.get('content-length') ?? '', 10);
  let reading: Promise<Uint8Array>;
  if (Number.isNaN(declared)) {
    reading = readChunked(request, room);
  } else {
    if (declared > BODY_BYTES_MAX) throw new GatewayError('payload_too_large');
    room.take(declared);
    reading = request.bytes();
  }
  const bytes = await withinDeadline(reading, waiting);
  if (bytes.length > BODY_BYTES_MAX) throw new GatewayError('payload_too_large');
  const body = parseBody(bytes, SEED);
  discard(bytes);
  return body;
}

/**
 * Drops what a refusal has left unread where its connection ends with it: the runtime would close at
 * once, and the reset that follows can destroy the response on its way (RFC 9112, section 9.6). Proxies
 * such as nginx ask for that by default.
 */
export async function beforeClosing(
  request: Request,
  response: Response,
  waiting: BodyWait,
): Promise<Response> {
  if (request.bodyUsed) return response;
  if (isLast(request.headers) || isLast(response.headers)) {
    const reader = request.body?.getReader();
    if (reader !== undefined) await withinDeadline(drop(reader), waiting).catch(() => {});
  }
  return response;
}

function isLast(headers: Headers): boolean {
  return headers.get('connection')?.toLowerCase() === 'close';
}

async function drop(reader: Pick<ReadableStreamDefaultReader, 'read'>): Promise<void> {
  while (!(await reader.read()).done);
}

/**
 * Requires JSON. A missing type and text/plain are accepted, because hand-written requests send
 * them. Any other type would have to be guessed.
 */
function requireJson(headers: Headers): void {
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type');
  }
  const type = headers.get('content-type');
  if (type === null || type === '' || type === 'application/json') return;
  const [name = '', ...parameters] = type.toLowerCase().split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const known = name.trim() === 'application/json' || name.trim() === 'text/plain';
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (!known || !utf8) throw new GatewayError('unsupported_media_type');
}

async function readChunked(request: Request, room: BodyBytes): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    bytes += value.length;
    try {
      if (bytes > BODY_BYTES_MAX) throw new GatewayError('payload_too_large');
      room.take(Math.max(value.length, CHUNK_BYTES_MIN));
    } catch (error) {
      // The rest stays unread; awaiting the cancellation would mean waiting for the sender.
      if (isLast(request.headers)) await drop(reader);
      else reader.cancel().catch(() => {});
      throw error;
    }
    chunks.push(value);
  }
}

function withinDeadline<Value>(reading: Promise<Value>, { deadlines }: BodyWait): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const stopDeadline = deadlines.start(BODY_DEADLINE_MS, () => {
    const message = `The request body did not arrive within ${BODY_DEADLINE_MS / 1_000} seconds.`;
    reject(new GatewayError('invalid_request', { message }));
  });
  reading.then(
    (body) => {
      stopDeadline();
      resolve(body);
    },
    (error: unknown) => {
      stopDeadline();
      const broken = { message: 'The request body broke off. Send it again.' };
      reject(error instanceof GatewayError ? error : new GatewayError('invalid_request', broken));
    },
  );
  return promise;
}
