// Decodes server-sent events from bytes to records. It never waits, never parses the data, and
// buffers at most one incomplete line and one incomplete event. The result does not depend on how
// the bytes are split.

import type { UpstreamFailure } from '../core/failure.ts';

export type SseLimits = {
  /** One line, without its line ending. */
  readonly lineBytes: number;
  /** The joined data of one event, in UTF-16 units. */
  readonly eventLength: number;
  /** The whole stream, comments and blank lines included: reading them costs time too. */
  readonly streamBytes: number;
};

type RecordReader = {
  /** `event` is empty if the stream names none. */
  readonly record: (data: string, event: string) => void;
  /**
   * Offered the data of an event without other fields than its name, as the part of `text` from
   * `from` to `to`. Returns true if it was handled; otherwise the event is passed to `record`.
   */
  readonly glance?: (text: string, from: number, to: number, event: string) => boolean;
};

const LF = 10;
const CR = 13;

/**
 * Reads are split into pieces of this size, so that only a carried line can exceed the line limit.
 */
const PIECE_BYTES = 65_536;

/** Most streams never carry anything over, so this buffer is allocated on demand. */
const FIRST_CARRY_BYTES = 4_096;

const NOTHING = new Uint8Array();

/**
 * Decodes one stream. A returned failure (`malformed`: a line, an event or the whole stream exceeds
 * its limit) is final; the caller makes no further call.
 */
export class SseDecoder {
  readonly #reader: RecordReader;
  readonly #limits: SseLimits;
  // A byte-order mark counts only at the start, so the decoder must not strip it elsewhere.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #carry = NOTHING;
  #carried = 0;
  #bytesLeft: number;
  #skipLineFeed = false;
  #atStart = true;
  /** The fields of the current event. */
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

  /** The end of the bytes: a last event without its blank line still counts. */
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
    // The LF of a CRLF that two reads share must not count as an empty line.
    this.#skipLineFeed = rest[rest.length - 1] === CR;
    if (this.#carried > 0) {
      const lineEnd = firstLineEnd(rest);
      if (lineEnd === -1) return this.#keep(rest);
      const failure = this.#keep(rest.subarray(0, lineEnd)) ?? this.#readCarry();
      if (failure !== undefined) return failure;
      const pair = rest[lineEnd] === CR && rest[lineEnd + 1] === LF;
      rest = rest.subarray(lineEnd + (pair ? 2 : 1));
    }
    // Bytes 10 and 13 never occur inside a longer character, so whole lines can be decoded
    // separately.
    const whole = lastLineEnd(rest) + 1;
    const failure = whole === 0 ? undefined : this.#readLines(slice(rest, 0, whole));
    return failure ?? (whole === rest.length ? undefined : this.#keep(rest.subarray(whole)));
  }

  /** Buffers a part of an incomplete line. Doubling keeps the total copying linear. */
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
      // Most events are one line of data and an empty one, some of them behind a name.
      const isWhole = text.charCodeAt(to + 1) === LF && text.startsWith('data: ', from);
      const end = isWhole ? to : namedEnd(text, from, to);
      if (end !== -1 && this.#only(text, from, to, end)) {
        from = end + 2;
        continue;
      }
      const failure = this.#line(text.slice(from, to));
      if (failure !== undefined) return failure;
      from = to + 1;
    }
    return from < text.length ? this.#line(text.slice(from)) : undefined;
  }

  /**
   * An event from `from` to `end` whose first line ends at `to`: of data alone, or of a name and
   * data. False if it has to be read line by line.
   */
  #only(text: string, from: number, to: number, end: number): boolean {
    const start = to === end ? from + 6 : to + 7;
    const isLong = end - start > this.#limits.eventLength;
    if (this.#hasData || this.#event !== '' || isLong) return false;
    const event = to === end ? '' : text.slice(from + 7, to);
    if (this.#reader.glance?.(text, start, end, event) !== true)
      this.#reader.record(text.slice(start, end), event);
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
        // Older llama.cpp servers write a failure in a field of this name instead of `data`.
        this.#event = 'error';
        return this.#add(colon === -1 ? '' : valueAfter(line, colon + 1));
      default:
        // Comments, `id`, `retry` and unknown fields are ignored.
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

/** Where an event ends that begins with a name and has one line of data; -1 if it has another form. */
function namedEnd(text: string, from: number, to: number): number {
  if (!text.startsWith('event: ', from) || !text.startsWith('data: ', to + 1)) return -1;
  const end = text.indexOf('\n', to + 1);
  return text.charCodeAt(end + 1) === LF ? end : -1;
}

/** Most reads are one piece of whole lines and need no view of their own. */
function slice(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
}

/** A field's value, without one space after the colon. */
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
