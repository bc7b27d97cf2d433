// The bytes of one answer as they were sent, for readers that begin at different times. Full
// segments are compressed: a stream repeats its frame with every token, so an hour of it needs a few
// hundred kilobytes. Readers wait for what is missing, and never slow down the writer.

/** Text per segment; a reader holds one of them. */
const SEGMENT_BYTES = 65_536;

/** The first buffer of an uncompressed end; it doubles up to a segment. */
const TAIL_BYTES_MIN = 1_024;

/** Three times faster than the default level, and frames compress well at any level. */
const LEVEL = 1;

/** The bytes before each stored segment that say how long it is. */
const LENGTH_BYTES = 4;

/** Where a reader is: a segment, and the bytes of it that were read. */
export type Cursor = { readonly segment: number; readonly offset: number };

export const BEGINNING: Cursor = { segment: 0, offset: 0 };

/** No bytes: the reader has caught up. */
export type TranscriptRead = { readonly bytes: Uint8Array | undefined; readonly next: Cursor };

/** `size` is what the memory of a transcript has grown by, in bytes. */
export type TranscriptOptions = {
  readonly most: number;
  readonly onGrowth: (size: number) => void;
};

const UNBOUNDED: TranscriptOptions = { most: Number.POSITIVE_INFINITY, onGrowth: () => {} };

export class Transcript {
  readonly #options: TranscriptOptions;
  readonly #segments: Uint8Array[] = [];
  /** The uncompressed end. Readers have views of it, so what is written is never overwritten. */
  #tail = new Uint8Array(TAIL_BYTES_MIN);
  #tailBytes = 0;
  /** Bytes of the compressed segments and of the uncompressed end. */
  #size = 0;
  #isComplete = false;
  #isCut = false;
  #changed = Promise.withResolvers<void>();

  constructor(options: TranscriptOptions = UNBOUNDED) {
    this.#options = options;
  }

  /** A complete transcript from what `pack` returned. */
  static unpack(packed: Uint8Array): Transcript {
    const transcript = new Transcript();
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    for (let at = 0; at < packed.length; ) {
      const end = at + LENGTH_BYTES + view.getUint32(at);
      transcript.#segments.push(packed.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    transcript.end();
    return transcript;
  }

  /** False if the transcript is full: it ends here, cut, and takes nothing more. */
  append(bytes: Uint8Array): boolean {
    if (this.#isComplete) return false;
    this.#add(bytes);
    if (this.#size > this.#options.most) this.cut();
    else this.#wake();
    return !this.#isCut;
  }

  /** A whole answer, which is in memory already: its client gets all of it. */
  fill(bytes: Uint8Array): void {
    this.#add(bytes);
    this.end();
  }

  /** Ends it before its answer has ended. */
  cut(): void {
    this.#isCut = true;
    this.end();
  }

  /** The answer has ended. */
  end(): void {
    this.#isComplete = true;
    this.#wake();
  }

  isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether it ended before its answer. */
  isCut(): boolean {
    return this.#isCut;
  }

  size(): number {
    return this.#size;
  }

  /** Its uncompressed bytes so far; of one that was stored, rounded up to a segment. */
  length(): number {
    return this.#segments.length * SEGMENT_BYTES + this.#tailBytes;
  }

  /** At most one segment from the cursor on. */
  read({ segment, offset }: Cursor): TranscriptRead {
    const closed = this.#segments[segment];
    if (closed !== undefined) {
      const bytes = Bun.zstdDecompressSync(closed).subarray(offset);
      return { bytes, next: { segment: segment + 1, offset: 0 } };
    }
    const next = { segment, offset: this.#tailBytes };
    if (offset >= this.#tailBytes) return { bytes: undefined, next };
    return { bytes: this.#tail.subarray(offset, this.#tailBytes), next };
  }

  /** Resolves at the next change. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** Whether it fits into one segment. */
  isShort(): boolean {
    return this.#segments.length + (this.#tailBytes > 0 ? 1 : 0) <= 1;
  }

  /** All of it. For short ones. */
  all(): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let cursor = BEGINNING; ; ) {
      const { bytes, next } = this.read(cursor);
      if (bytes === undefined) return Buffer.concat(parts);
      parts.push(bytes);
      cursor = next;
    }
  }

  /** The compressed bytes of a complete transcript. */
  pack(): Uint8Array {
    if (this.#tailBytes > 0) this.#close(this.#tailBytes);
    const parts = this.#segments.flatMap((segment) => {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(segment.length);
      return [length, segment];
    });
    return Buffer.concat(parts);
  }

  #add(bytes: Uint8Array): void {
    const length = this.#tailBytes + bytes.length;
    if (length > this.#tail.length) {
      const doubled = Math.min(2 * this.#tail.length, SEGMENT_BYTES);
      const grown = new Uint8Array(Math.max(length, doubled, TAIL_BYTES_MIN));
      grown.set(this.#tail.subarray(0, this.#tailBytes));
      this.#tail = grown;
    }
    this.#tail.set(bytes, this.#tailBytes);
    this.#tailBytes = length;
    this.#grow(bytes.length);
    if (length >= SEGMENT_BYTES) this.#close(length - (length % SEGMENT_BYTES));
  }

  /** Compresses the beginning of the tail. Readers inside it continue in the segment. */
  #close(length: number): void {
    for (let at = 0; at < length; at += SEGMENT_BYTES) {
      const text = this.#tail.subarray(at, Math.min(at + SEGMENT_BYTES, length));
      const segment = Bun.zstdCompressSync(text, { level: LEVEL });
      this.#segments.push(segment);
      this.#grow(segment.length - text.length);
    }
    this.#tail = this.#tail.slice(length, this.#tailBytes);
    this.#tailBytes -= length;
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    this.#options.onGrowth(bytes);
  }

  #wake(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }
}
