// Reads a body to its end as text, up to the maximum size of an answer, for both transports.

import type { UpstreamFailure } from '../core/failure.ts';
import { ANSWER_BYTES_MAX } from '../wire/upstream/limits.ts';
import type { ByteReader } from './transport.ts';

export const TOO_LONG: UpstreamFailure = {
  class: 'malformed',
  detail: `the answer is larger than ${ANSWER_BYTES_MAX} bytes`,
};

export const BROKEN: UpstreamFailure = {
  class: 'cut',
  detail: 'the connection broke before the answer was complete',
};

const UTF8 = new TextDecoder();

/** A leading byte-order mark is not part of the text. */
export function decodeText(pieces: readonly Uint8Array[]): string {
  const [only] = pieces;
  if (only === undefined) return '';
  return UTF8.decode(pieces.length === 1 ? only : Buffer.concat(pieces));
}

/** `first` was already read from the body. */
export async function readText(
  reader: ByteReader,
  first?: Uint8Array,
): Promise<string | UpstreamFailure> {
  const pieces = first === undefined ? [] : [first];
  let bytes = first?.length ?? 0;
  try {
    while (bytes <= ANSWER_BYTES_MAX) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return decodeText(pieces);
      bytes += value.length;
      pieces.push(value);
    }
    await reader.cancel();
    return TOO_LONG;
  } catch {
    return BROKEN;
  }
}
