// The bytes of one answer as they were sent, in compressed segments: a stream repeats its frame with
// every token, so an hour of it needs a few hundred kilobytes.

/** Text per segment; a repeat holds one of them. */
const SEGMENT_BYTES = 65_536;

/** Three times faster than the default level, and frames compress well at any level. */
const LEVEL = 1;

/** The bytes before each packed segment that say how long it is. */
const LENGTH_BYTES = 4;

export class Transcript {
  readonly #onGrowth: (bytes: number) => void;
  readonly #segments: Uint8Array[] = [];
  /** The uncompressed end. */
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #size = 0;

  /** Calls `onGrowth` with the bytes of memory that it has grown by. */
  constructor(onGrowth: (bytes: number) => void = () => {}) {
    this.#onGrowth = onGrowth;
  }

  /** Bytes of the compressed segments and of the uncompressed end. */
  size(): number {
    return this.#size;
  }

  append(bytes: Uint8Array): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    this.#grow(bytes.length);
    if (this.#tailBytes >= SEGMENT_BYTES) this.#close(this.#tailBytes % SEGMENT_BYTES);
  }

  /** The compressed bytes of a complete answer. */
  pack(): Uint8Array {
    if (this.#tailBytes > 0) this.#close(0);
    const parts = this.#segments.flatMap((segment) => {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(segment.length);
      return [length, segment];
    });
    return Buffer.concat(parts);
  }

  /** Compresses the tail but its last `rest` bytes. */
  #close(rest: number): void {
    const text = Buffer.concat(this.#tail);
    const end = text.length - rest;
    for (let at = 0; at < end; at += SEGMENT_BYTES) {
      const part = text.subarray(at, Math.min(at + SEGMENT_BYTES, end));
      const segment = Bun.zstdCompressSync(part, { level: LEVEL });
      this.#segments.push(segment);
      this.#grow(segment.length - part.length);
    }
    this.#tail = [text.slice(end)];
    this.#tailBytes = rest;
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    this.#onGrowth(bytes);
  }
}

/** The segments of a packed answer, uncompressed one at a time. */
export function* unpack(packed: Uint8Array): Generator<Uint8Array> {
  for (const segment of segmentsOf(packed)) yield Bun.zstdDecompressSync(segment);
}

/** The uncompressed bytes of a packed answer, rounded up to a segment. */
export function unpackedBytes(packed: Uint8Array): number {
  return [...segmentsOf(packed)].length * SEGMENT_BYTES;
}

/** Whether a packed answer has at most one segment. */
export function isShort(packed: Uint8Array): boolean {
  return unpackedBytes(packed) <= SEGMENT_BYTES;
}

function* segmentsOf(packed: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  for (let at = 0; at < packed.length; ) {
    const end = at + LENGTH_BYTES + view.getUint32(at);
    yield packed.subarray(at + LENGTH_BYTES, end);
    at = end;
  }
}
