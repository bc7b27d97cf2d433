// Server-sent events, bytes to records. Called by the upstream dialects with each read of a stream.
// It never waits, never looks into the data, and never keeps more than one unfinished line and one
// unfinished event. Any split of the same bytes gives the same records.

import type { UpstreamFailure } from '../core/failure.ts';

export type SseLimits = {
  /** One line, its end not counted. */
  readonly lineBytes: number;
  /** The joined data of one event, in UTF-16 units. */
  readonly eventLength: number;
  /** Everything, comments and blank lines included: what is not kept still costs time to read. */
  readonly streamBytes: number;
};

type RecordReader = {
  /** `event` is the empty string where the stream named none. */
  readonly record: (data: string, event: string) => void;
  /**
   * Shown the data of an event that is nothing else, as the part of `text` from `from` to `to`. True
   * where that was all; otherwise the event comes as a record.
   */
  readonly glance?: (text: string, from: number, to: number) => boolean;
};

const LF = 10;
const CR = 13;

/** Reads are taken in pieces of this size, so that only a carried line can break the line bound. */
const PIECE_BYTES = 65_536;

/** Most streams never carry anything, so the room for it is made when it is needed. */
const FIRST_CARRY_BYTES = 4_096;

const NOTHING = new Uint8Array();

/**
 * Decodes one stream. A returned failure (`malformed`: a line, an event or the whole stream above its
 * limit) is final; the caller makes no further call.
 */
export class SseDecoder {
  readonly #reader: RecordReader;
  readonly #limits: SseLimits;
  // A byte-order mark is only one at the very start, so the decoder must not strip it elsewhere.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #carry = NOTHING;
  #carried = 0;
  #bytesLeft: number;
  #skipLineFeed = false;
  #atStart = true;
  /** The fields of the event that has begun. */
  #data = '';
  #hasData = false;
  #event = '';

  constructor(reader: RecordReader, limits: SseLimits) {
    this.#reader = reader;
    this.#limits = limits;
    this.#bytesLeft = limits.streamBytes;
  }

  feed(bytes: Uint8Array): UpstreamFailure | undefined {
    const allowed = Math.min(bytes.length, this.#bytesLeft);
    this.#bytesLeft -= allowed;
    const pieceBytes = Math.min(PIECE_BYTES, this.#limits.lineBytes);
    for (let from = 0; from < allowed; from += pieceBytes) {
      const failure = this.#readPiece(slice(bytes, from, Math.min(from + pieceBytes, allowed)));
      if (failure !== undefined) return failure;
    }
    if (allowed === bytes.length) return undefined;
    return tooLong('a stream', this.#limits.streamBytes, 'bytes');
  }

  /** The bytes are over: a last event without its blank line still counts. */
  end(): UpstreamFailure | undefined {
    const failure = this.#carried > 0 ? this.#readCarry() : undefined;
    return failure ?? this.#line('');
  }

  #readPiece(piece: Uint8Array): UpstreamFailure | undefined {
    let rest = piece;
    if (this.#skipLineFeed && rest[0] === LF) rest = rest.subarray(1);
    if (rest.length === 0) {
      this.#skipLineFeed = false;
      return undefined;
    }
    // The second half of a line end that two reads share must not read as an empty line.
    this.#skipLineFeed = rest[rest.length - 1] === CR;
    if (this.#carried > 0) {
      const lineEnd = firstLineEnd(rest);
      if (lineEnd === -1) return this.#keep(rest);
      const failure = this.#keep(rest.subarray(0, lineEnd)) ?? this.#readCarry();
      if (failure !== undefined) return failure;
      const pair = rest[lineEnd] === CR && rest[lineEnd + 1] === LF;
      rest = rest.subarray(lineEnd + (pair ? 2 : 1));
    }
    // Bytes 10 and 13 are never part of a longer character: whole lines decode on their own.
    const whole = lastLineEnd(rest) + 1;
    const failure = whole === 0 ? undefined : this.#readLines(slice(rest, 0, whole));
    return failure ?? (whole === rest.length ? undefined : this.#keep(rest.subarray(whole)));
  }

  /** Keeps a part of an unfinished line. Doubling keeps the sum of all copies linear. */
  #keep(part: Uint8Array): UpstreamFailure | undefined {
    const needed = this.#carried + part.length;
    const { lineBytes } = this.#limits;
    if (needed > lineBytes) return tooLong('a line', lineBytes, 'bytes');
    if (needed > this.#carry.length) {
      const grown = new Uint8Array(Math.max(needed, this.#carry.length * 2, FIRST_CARRY_BYTES));
      grown.set(this.#carry.subarray(0, this.#carried));
      this.#carry = grown;
    }
    this.#carry.set(part, this.#carried);
    this.#carried = needed;
    return undefined;
  }

  #readCarry(): UpstreamFailure | undefined {
    const line = this.#carry.subarray(0, this.#carried);
    this.#carried = 0;
    return this.#readLines(line);
  }

  #readLines(bytes: Uint8Array): UpstreamFailure | undefined {
    let text = this.#decoder.decode(bytes);
    if (this.#atStart) {
      this.#atStart = false;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    if (text.includes('\r')) text = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      // Nearly every event is one line of data and an empty one.
      const isWhole = text.charCodeAt(to + 1) === LF && text.startsWith('data: ', from);
      if (isWhole && this.#only(text, from + 6, to)) {
        from = to + 2;
        continue;
      }
      const failure = this.#line(text.slice(from, to));
      if (failure !== undefined) return failure;
      from = to + 1;
    }
    return from < text.length ? this.#line(text.slice(from)) : undefined;
  }

  /** An event with no other line than this data. False where it has to be read line by line. */
  #only(text: string, from: number, to: number): boolean {
    const isLong = to - from > this.#limits.eventLength;
    if (this.#hasData || this.#event !== '' || isLong) return false;
    if (this.#reader.glance?.(text, from, to) !== true)
      this.#reader.record(text.slice(from, to), '');
    return true;
  }

  #line(line: string): UpstreamFailure | undefined {
    if (line === '') {
      this.#dispatch();
      return undefined;
    }
    if (line.startsWith('data:')) return this.#add(valueAfter(line, 5));
    const colon = line.indexOf(':');
    switch (colon === -1 ? line : line.slice(0, colon)) {
      case 'data':
        return this.#add('');
      case 'event':
        this.#event = colon === -1 ? '' : valueAfter(line, colon + 1);
        return undefined;
      case 'error':
        // Older llama.cpp servers write a failure as a field of this name in place of `data`.
        this.#event = 'error';
        return this.#add(colon === -1 ? '' : valueAfter(line, colon + 1));
      default:
        // Comments, `id`, `retry` and unknown fields mean nothing here.
        return undefined;
    }
  }

  #add(value: string): UpstreamFailure | undefined {
    this.#data = this.#hasData ? `${this.#data}\n${value}` : value;
    this.#hasData = true;
    const { eventLength } = this.#limits;
    return this.#data.length > eventLength
      ? tooLong('an event', eventLength, 'characters')
      : undefined;
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event;
    const isComplete = this.#hasData;
    this.#data = '';
    this.#hasData = false;
    this.#event = '';
    // An event without data is a keep-alive.
    if (isComplete) this.#reader.record(data, event);
  }
}

/** Most reads are one piece of whole lines: they need no view of their own. */
function slice(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
}

/** A field's value; one space after the colon is not part of it. */
function valueAfter(line: string, start: number): string {
  return line.slice(line.charCodeAt(start) === 32 ? start + 1 : start);
}

function firstLineEnd(bytes: Uint8Array): number {
  const lineFeed = bytes.indexOf(LF);
  const carriageReturn = (lineFeed === -1 ? bytes : bytes.subarray(0, lineFeed)).indexOf(CR);
  return carriageReturn === -1 ? lineFeed : carriageReturn;
}

function lastLineEnd(bytes: Uint8Array): number {
  // Most reads end with an event.
  if (bytes[bytes.length - 1] === LF) return bytes.length - 1;
  return Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR));
}

function tooLong(what: string, limit: number, unit: string): UpstreamFailure {
  return {
    class: 'malformed',
    detail: `the upstream sent ${what} of more than ${limit} ${unit}`,
  };
}
