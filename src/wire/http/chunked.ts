// Bodies in chunks: RFC 9112, section 7.1. Called by the decoder of answers with each read of a
// connection. What the chunks hold is moved together inside the read itself, so that a read gives
// one piece of the body however many chunks it has. Extensions and trailers are checked, bounded
// and dropped.

import type { HttpFault } from './fault.ts';

/** The line before a chunk, with its extensions. */
const LINE_BYTES_MAX = 4_096;
/** All trailers together. */
const TRAILER_BYTES_MAX = 16_384;
const CHUNK_BYTES_MAX = 2 ** 40;

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const COLON = 58;
const SEMICOLON = 59;
const DELETE = 127;

type BodyStep = {
  /** Shares its memory with the bytes that were fed. May be empty. */
  readonly body: Buffer;
  /** Where the body ended in the bytes; absent while it goes on. */
  readonly end?: number;
};

export type BodyDecoder = {
  /** Takes the bytes from `start` on, and may overwrite them. No call may follow an end or a fault. */
  readonly feed: (bytes: Buffer, start: number) => BodyStep | HttpFault;
};

type State =
  | 'size-start'
  | 'size'
  | 'padding'
  | 'extension'
  | 'size-end'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer-start'
  | 'trailer-name'
  | 'trailer-value'
  | 'trailer-lf'
  | 'last-lf';

const BAD_SIZE: HttpFault = { fault: 'the size of a chunk is malformed or too large' };
const BAD_END: HttpFault = { fault: 'a chunk does not end where its size says' };
const BAD_TRAILER: HttpFault = { fault: 'a trailer is malformed' };

export function createChunkedDecoder(): BodyDecoder {
  let state: State = 'size-start';
  /** What is left of the chunk, or its size so far. */
  let size = 0;
  let lineBytes = 0;

  /** One byte outside of the data; a fault where it must not stand there. */
  function step(byte: number): HttpFault | undefined {
    switch (state) {
      case 'size-start':
      case 'size':
        return sizeByte(byte);
      case 'padding':
        if (byte === SPACE || byte === TAB) return undefined;
        return sizeFollower(byte);
      case 'extension':
        if (byte === CR) state = 'size-end';
        return byte !== CR && isControl(byte) ? BAD_SIZE : undefined;
      case 'size-end':
        if (byte !== LF) return BAD_SIZE;
        state = size === 0 ? 'trailer-start' : 'data';
        lineBytes = 0;
        return undefined;
      case 'data-cr':
        state = 'data-lf';
        return byte === CR ? undefined : BAD_END;
      case 'data-lf':
        state = 'size-start';
        return byte === LF ? undefined : BAD_END;
      default:
        return trailerByte(byte);
    }
  }

  function sizeByte(byte: number): HttpFault | undefined {
    const digit = hexDigit(byte);
    if (digit < 0) return state === 'size' ? sizeFollower(byte) : BAD_SIZE;
    state = 'size';
    size = size * 16 + digit;
    return size > CHUNK_BYTES_MAX ? BAD_SIZE : undefined;
  }

  function sizeFollower(byte: number): HttpFault | undefined {
    if (byte === CR) state = 'size-end';
    else if (byte === SEMICOLON) state = 'extension';
    else if (byte === SPACE || byte === TAB) state = 'padding';
    else return BAD_SIZE;
    return undefined;
  }

  function trailerByte(byte: number): HttpFault | undefined {
    if (state === 'trailer-start' && byte === CR) state = 'last-lf';
    else if (state === 'trailer-start' || state === 'trailer-name') {
      if (byte === COLON && state === 'trailer-name') state = 'trailer-value';
      else if (byte <= SPACE || byte >= DELETE || byte === COLON) return BAD_TRAILER;
      else state = 'trailer-name';
    } else if (state === 'trailer-value') {
      if (byte === CR) state = 'trailer-lf';
      else if (isControl(byte)) return BAD_TRAILER;
    } else if (byte !== LF) return BAD_TRAILER;
    else state = 'trailer-start';
    return undefined;
  }

  return {
    feed(bytes, start) {
      let at = start;
      let bodyStart = start;
      let bodyEnd = start;
      while (at < bytes.length) {
        if (state === 'data') {
          const taken = Math.min(size, bytes.length - at);
          if (bodyEnd === bodyStart) bodyStart = bodyEnd = at;
          else bytes.copyWithin(bodyEnd, at, at + taken);
          bodyEnd += taken;
          at += taken;
          size -= taken;
          if (size === 0) state = 'data-cr';
          continue;
        }
        const byte = bytes[at] ?? 0;
        at += 1;
        if (state === 'last-lf') {
          return byte === LF ? { body: bytes.subarray(bodyStart, bodyEnd), end: at } : BAD_TRAILER;
        }
        const fault = step(byte);
        if (fault !== undefined) return fault;
        if (state === 'size-start') {
          lineBytes = 0;
          continue;
        }
        lineBytes += 1;
        if (lineBytes > (isTrailer(state) ? TRAILER_BYTES_MAX : LINE_BYTES_MAX)) {
          return isTrailer(state) ? BAD_TRAILER : BAD_SIZE;
        }
      }
      return { body: bytes.subarray(bodyStart, bodyEnd) };
    },
  };
}

function isTrailer(state: State): boolean {
  return state.startsWith('trailer');
}

/** -1 where it is none. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** What no line may have inside; a tab may stand there. */
function isControl(byte: number): boolean {
  return (byte < SPACE && byte !== TAB) || byte === DELETE;
}
