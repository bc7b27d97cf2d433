// Reads a request body once, as bytes, within the size limit and without decompressing it. The
// runtime discards what a refusal leaves unread, unless the connection ends with it.

import { isAscii } from 'node:buffer';
import { discard } from '../async/discard.ts';
import type { Deadlines } from '../core/deadlines.ts';
import { GatewayError } from '../core/error.ts';
import type { BodyBytes } from '../generate/pipeline-types.ts';
import { decode, mayHaveSurrogate, notJson, parseBody, requireWeight } from '../wire/body.ts';
import type { ParsedBody } from '../wire/format.ts';
import { BODY_BYTES_MAX } from '../wire/limits.ts';
import { Pace, SILENCE_MS } from './pace.ts';

/** Known to no client: see `weighJson`. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0];

/** What the smallest chunk takes until all are joined. */
const CHUNK_BYTES_MIN = 256;

/** A body up to this size is there within the time of a silent one at the least pace (`pace.ts`). */
const SMALL_BODY_BYTES = 16_000;

/**
 * Throws 413, 415 or 400, or what `room` throws. A declared length above the limit is refused
 * without reading; any other takes room as its bytes arrive.
 */
export function readBody(
  request: Request,
  deadlines: Deadlines,
  room: BodyBytes,
): Promise<ParsedBody> {
  requireJson(request.headers);
  // A length that was sent twice is joined to a list of equal numbers.
  const declared = Number.parseInt(request.headers.get('content-length') ?? '', 10);
  if (declared > BODY_BYTES_MAX) throw new GatewayError('payload_too_large');
  // Reading chunks costs several promises for each of them.
  return declared <= SMALL_BODY_BYTES
    ? readSmall(request, deadlines, room)
    : readChunks(request, deadlines, room).then((bytes) => parseLarge(bytes, room));
}

/** Of ASCII, the runtime parses the bytes themselves; few requests need their text as well. */
async function parseLarge(bytes: Uint8Array, room: BodyBytes): Promise<ParsedBody> {
  if (bytes.length <= SMALL_BODY_BYTES || !isAscii(bytes) || mayHaveSurrogate(bytes)) {
    const body = parseBody(bytes, SEED);
    discard(bytes);
    return body;
  }
  requireWeight(bytes, SEED);
  const value: unknown = await new Response(bytes).json().catch(() => {
    throw notJson();
  });
  room.keep(bytes);
  return {
    value,
    length: bytes.length,
    get text() {
      return decode(bytes);
    },
  };
}

/**
 * Drops what a refusal has left unread where its connection ends with it: the runtime would close at
 * once, and the reset that follows can destroy the response on its way (RFC 9112, section 9.6). Proxies
 * such as nginx ask for that by default.
 */
export async function beforeClosing(
  request: Request,
  response: Response,
  deadlines: Deadlines,
): Promise<Response> {
  if (request.bodyUsed) return response;
  if (isLast(request.headers) || isLast(response.headers)) {
    const reader = request.body?.getReader();
    if (reader !== undefined) await dropRest(reader, deadlines);
  }
  return response;
}

function isLast(headers: Headers): boolean {
  return headers.get('connection')?.toLowerCase() === 'close';
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>;

async function dropRest(reader: Reader, deadlines: Deadlines): Promise<void> {
  const pace = new Pace(deadlines, () => stop(reader));
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      pace.add(read.value.length);
    }
  } catch {
    // The client has left.
  } finally {
    pace.end();
  }
}

/** Pending reads end. Awaiting the cancellation would mean waiting for the sender. */
function stop(reader: Reader): void {
  reader.cancel().catch(() => {});
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

function readSmall(request: Request, deadlines: Deadlines, room: BodyBytes): Promise<ParsedBody> {
  return new Promise((resolve, reject) => {
    const deadline = { at: deadlines.now() + SILENCE_MS, fire: () => reject(tooSlow()) };
    deadlines.add(deadline);
    request.bytes().then(
      (bytes) => {
        deadlines.remove(deadline);
        try {
          room.take(bytes.length);
          resolve(parseBody(bytes, SEED));
        } catch (error) {
          reject(error);
        }
      },
      () => {
        deadlines.remove(deadline);
        reject(brokenOff());
      },
    );
  });
}

async function readChunks(
  request: Request,
  deadlines: Deadlines,
  room: BodyBytes,
): Promise<Uint8Array> {
  const reader: Reader | undefined = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const pace = new Pace(deadlines, () => stop(reader));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (pace.isLate) throw tooSlow();
      if (done) return joined(chunks);
      pace.add(value.length);
      bytes += value.length;
      if (bytes > BODY_BYTES_MAX) throw new GatewayError('payload_too_large');
      room.take(Math.max(value.length, CHUNK_BYTES_MIN));
      chunks.push(value);
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw brokenOff();
    // The rest stays unread.
    if (isLast(request.headers) && !pace.isLate) await dropRest(reader, deadlines);
    else stop(reader);
    throw error;
  } finally {
    pace.end();
  }
}

/** Frees the chunks: otherwise they lie beside the body until garbage is collected. */
function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(), ...more] = chunks;
  if (more.length === 0) return first;
  const bytes = Buffer.concat(chunks);
  for (const chunk of chunks) discard(chunk);
  return bytes;
}

/** What follows on the connection is the rest of the body. */
function tooSlow(): GatewayError {
  return new GatewayError('invalid_request', {
    message:
      'The request body arrived too slowly: nothing within 2 seconds, or less than 16 KB a second over 5 seconds. Send it again.',
    closesConnection: true,
  });
}

function brokenOff(): GatewayError {
  return new GatewayError('invalid_request', {
    message: 'The request body broke off. Send it again.',
  });
}
