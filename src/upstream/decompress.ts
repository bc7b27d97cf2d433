// Decompresses bodies that an upstream compressed although it was asked not to. Works as a stream,
// so that a small body that expands to a huge one costs only what its reader consumes.

import { pipeline, Readable, type Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';
import type { ByteReader } from './transport.ts';

const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** `undefined` for an unknown coding, or several. */
export function decompress(reader: ByteReader, coding: string): ByteReader | undefined {
  const unpacker = UNPACKERS.get(coding.toLowerCase())?.();
  if (unpacker === undefined) return undefined;
  const packed = Readable.from(pieces(reader), { objectMode: false });
  // Errors reach the reader, even one that starts later. Without a listener, an error before that
  // would end the process.
  unpacker.on('error', () => {});
  pipeline(packed, unpacker, () => {});
  const unpacked = unpacker[Symbol.asyncIterator]();
  return {
    async read() {
      const { done, value } = await unpacked.next();
      if (done === true) return { done: true };
      return { done: false, value: Buffer.isBuffer(value) ? value : Buffer.from(value) };
    },
    async cancel() {
      await reader.cancel();
      packed.destroy();
    },
  };
}

async function* pieces(reader: ByteReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return;
    yield value;
  }
}
