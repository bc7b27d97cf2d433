// How the bytes of a stream arrive: in reads of any lengths, single bytes among them.

import fc from 'fast-check';

/** The lengths of the reads, again and again until the bytes are over. */
export const readLengths = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 4 }) },
    { weight: 2, arbitrary: fc.integer({ min: 5, max: 200 }) },
    { weight: 1, arbitrary: fc.constant(100_000) },
  ),
  { minLength: 1, maxLength: 4 },
);

export function inReads(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const reads: Uint8Array[] = [];
  let from = 0;
  while (from < bytes.length) {
    const length = lengths[reads.length % lengths.length] ?? 1;
    reads.push(bytes.subarray(from, from + length));
    from += length;
  }
  return reads;
}
