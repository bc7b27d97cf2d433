// Reads the body of a write: a small JSON document that has arrived within a deadline.

import { withTimeout } from '../../async/timeout.ts';
import { JSON_WEIGHT_MAX, weighJson } from '../../core/json-weight.ts';
import { DashboardError, invalidRequest } from './error.ts';

const BODY_BYTES_MAX = 262_144;

/** For routes that take the text of a catalog, or two of them. */
export const TEXT_BODY_BYTES_MAX = 1_048_576;

/** For routes without a session, which strangers call before any throttle counts them. */
export const PUBLIC_BODY_BYTES_MAX = 8_192;

/** A body that takes longer than this to arrive is a stalled sender. */
const BODY_DEADLINE_MS = 30_000;

const FIRST_BYTES = 4_096;

type BodyLimits = { readonly bytesMax?: number; readonly deadlineMs?: number };

export function isJson(headers: Headers): boolean {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/json';
}

/** Throws `payload_too_large` and `invalid_request`. An empty body is an empty object. */
export async function readJson(request: Request, limits: BodyLimits = {}): Promise<unknown> {
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) return {};
  // Values may take a thousand times the memory of their text.
  if (weighJson(bytes, JSON_WEIGHT_MAX).excess !== undefined) {
    throw invalidRequest('The body nests too deep, or has too many values.');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalidRequest('The body is not valid JSON.');
  }
}

async function readBytes(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { bytesMax = BODY_BYTES_MAX, deadlineMs = BODY_DEADLINE_MS } = limits;
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  try {
    const bytes = await withTimeout(deadlineMs, collect(reader, bytesMax));
    if (bytes !== undefined) return bytes;
    throw invalidRequest(
      `The request body did not arrive within ${deadlineMs / 1_000} seconds. Send it again.`,
    );
  } catch (error) {
    // Awaiting the cancellation would mean waiting for the sender.
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** Copies into one buffer, because each stored chunk would cost memory beyond its bytes. */
async function collect(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>,
  bytesMax: number,
): Promise<Uint8Array> {
  let bytes = new Uint8Array(Math.min(FIRST_BYTES, bytesMax));
  let size = 0;
  for (;;) {
    const { done, value } = await read(reader);
    if (done) return bytes.subarray(0, size);
    const end = size + value.length;
    if (end > bytesMax) throw tooLarge(bytesMax);
    if (end > bytes.length) {
      const larger = new Uint8Array(Math.min(Math.max(end, 2 * bytes.length), bytesMax));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(value, size);
    size = end;
  }
}

async function read<Value>(reader: Pick<ReadableStreamDefaultReader<Value>, 'read'>) {
  try {
    return await reader.read();
  } catch {
    throw invalidRequest('The request body broke off. Send it again.');
  }
}

function tooLarge(bytesMax: number): DashboardError {
  return new DashboardError(
    'payload_too_large',
    `The body exceeds the limit of ${bytesMax} bytes. Send less.`,
  );
}
