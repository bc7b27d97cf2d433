// Reads the body of a write: a small JSON document.

import { DashboardError } from './error.ts';

/** A price draft is the largest body that a page sends. */
const BODY_BYTES_MAX = 262_144;

/** Throws `payload_too_large` and `invalid_request`. An empty body is an empty object. */
export async function readJson(request: Request): Promise<unknown> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > BODY_BYTES_MAX) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  if (size === 0) return {};
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new DashboardError('invalid_request', 'The body is not valid JSON.');
  }
}

function tooLarge(): DashboardError {
  return new DashboardError(
    'payload_too_large',
    `The body exceeds the limit of ${BODY_BYTES_MAX} bytes. Send less.`,
  );
}
