// Server-sent events, bytes to records. Called by the upstream dialects with each read of a stream.
// It never waits, never looks into the data, and never keeps more than one unfinished line and one
// unfinished event. Any split of the same bytes gives the same records.

import type { UpstreamFailure } from '../core/failure.ts';
import type { StreamDecoder } from './format.ts';

export type SseLimits = {
  /** One line, its end not counted. */
  readonly lineBytes: number;
  /** The joined data of one event, in UTF-16 units. */
  readonly eventLength: number;
  /** Everything, comments and blank lines included: what is not kept still costs time to read. */
  readonly streamBytes: number;
};

/** `event` is the empty string where the stream named none. */
type OnSseRecord = (data: string, event: string) => void;

const LF = 10;
const CR = 13;

/** Reads are taken in pieces of this size, so that only a carried line can break the line bound. */
const PIECE_BYTES = 65_536;

/** Most streams never carry anything, so the room for it is made when it is needed. */
const FIRST_CARRY_BYTES = 4_096;

/**
 * Returns a decoder for one stream. A returned failure (`malformed`: a line, an event or the whole
 * stream above its limit) is final; the caller makes no further call.
 */
export function createSseDecoder(
  onRecord: OnSseRecord,
  limits: SseLimits,
): Pick<StreamDecoder, 'feed' | 'end'> {
  // A byte-order mark is only one at the very start, so the decoder must not strip it elsewhere.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const events = createEventBuilder(onRecord, limits.eventLength);
  const pieceBytes = Math.min(PIECE_BYTES, limits.lineBytes);
  let carry = new Uint8Array();
  let carried = 0;
  let bytesLeft = limits.streamBytes;
  let skipLineFeed = false;
  let atStart = true;

  /** Keeps a part of an unfinished line. Doubling keeps the sum of all copies linear. */
  function keep(part: Uint8Array): UpstreamFailure | undefined {
    const needed = carried + part.length;
    if (needed > limits.lineBytes) return tooLong('a line', limits.lineBytes, 'bytes');
    if (needed > carry.length) {
      const grown = new Uint8Array(Math.max(needed, carry.length * 2, FIRST_CARRY_BYTES));
      grown.set(carry.subarray(0, carried));
      carry = grown;
    }
    carry.set(part, carried);
    carried = needed;
    return undefined;
  }

  function readLines(bytes: Uint8Array): UpstreamFailure | undefined {
    let text = decoder.decode(bytes);
    if (atStart) {
      atStart = false;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    if (text.includes('\r')) text = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      // Nearly every event is one line of data and an empty one.
      const isWhole = text.charCodeAt(to + 1) === LF && text.startsWith('data: ', from);
      if (isWhole && events.only(text, from + 6, to)) {
        from = to + 2;
        continue;
      }
      const failure = events.line(text.slice(from, to));
      if (failure !== undefined) return failure;
      from = to + 1;
    }
    return from < text.length ? events.line(text.slice(from)) : undefined;
  }

  function readCarry(): UpstreamFailure | undefined {
    const line = carry.subarray(0, carried);
    carried = 0;
    return readLines(line);
  }

  function readPiece(piece: Uint8Array): UpstreamFailure | undefined {
    let rest = piece;
    if (skipLineFeed && rest[0] === LF) rest = rest.subarray(1);
    if (rest.length === 0) {
      skipLineFeed = false;
      return undefined;
    }
    // The second half of a line end that two reads share must not read as an empty line.
    skipLineFeed = rest[rest.length - 1] === CR;
    if (carried > 0) {
      const lineEnd = firstLineEnd(rest);
      if (lineEnd === -1) return keep(rest);
      const failure = keep(rest.subarray(0, lineEnd)) ?? readCarry();
      if (failure !== undefined) return failure;
      const pair = rest[lineEnd] === CR && rest[lineEnd + 1] === LF;
      rest = rest.subarray(lineEnd + (pair ? 2 : 1));
    }
    // Bytes 10 and 13 are never part of a longer character: whole lines decode on their own.
    const whole = lastLineEnd(rest) + 1;
    const failure = whole === 0 ? undefined : readLines(rest.subarray(0, whole));
    return failure ?? (whole === rest.length ? undefined : keep(rest.subarray(whole)));
  }

  return {
    feed(bytes) {
      const allowed = Math.min(bytes.length, bytesLeft);
      bytesLeft -= allowed;
      for (let from = 0; from < allowed; from += pieceBytes) {
        const failure = readPiece(bytes.subarray(from, Math.min(from + pieceBytes, allowed)));
        if (failure !== undefined) return failure;
      }
      if (allowed === bytes.length) return undefined;
      return tooLong('a stream', limits.streamBytes, 'bytes');
    },
    /** The bytes are over: a last event without its blank line still counts. */
    end() {
      const failure = carried > 0 ? readCarry() : undefined;
      return failure ?? events.line('');
    },
  };
}

/** Collects the fields of one event and hands it over at its blank line. */
function createEventBuilder(onRecord: OnSseRecord, maxLength: number) {
  let data = '';
  let hasData = false;
  let event = '';

  function add(value: string): UpstreamFailure | undefined {
    data = hasData ? `${data}\n${value}` : value;
    hasData = true;
    return data.length > maxLength ? tooLong('an event', maxLength, 'characters') : undefined;
  }

  function dispatch(): void {
    const record = data;
    const name = event;
    const complete = hasData;
    data = '';
    hasData = false;
    event = '';
    // An event without data is a keep-alive.
    if (complete) onRecord(record, name);
  }

  return {
    /** An event with no other line than this data. False where it has to be read line by line. */
    only(text: string, from: number, to: number): boolean {
      if (hasData || event !== '' || to - from > maxLength) return false;
      onRecord(text.slice(from, to), '');
      return true;
    },
    line(line: string): UpstreamFailure | undefined {
      if (line === '') {
        dispatch();
        return undefined;
      }
      if (line.startsWith('data:')) return add(valueAfter(line, 5));
      const colon = line.indexOf(':');
      switch (colon === -1 ? line : line.slice(0, colon)) {
        case 'data':
          return add('');
        case 'event':
          event = colon === -1 ? '' : valueAfter(line, colon + 1);
          return undefined;
        case 'error':
          // Older llama.cpp servers write a failure as a field of this name in place of `data`.
          event = 'error';
          return add(colon === -1 ? '' : valueAfter(line, colon + 1));
        default:
          // Comments, `id`, `retry` and unknown fields mean nothing here.
          return undefined;
      }
    },
  };
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
