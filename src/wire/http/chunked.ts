// Decodes chunked bodies: RFC 9112, section 7.1. The data of all chunks in a read is moved together
// in place, so that each read yields one piece of the body. Extensions and trailers are checked,
// bounded and dropped.

import type { HttpFault } from './fault.ts';

/** The chunk-size line, with its extensions. */
const LINE_BYTES_MAX = 4_096;
/** All trailers together. */
const TRAILER_BYTES_MAX = 16_384;
const CHUNK_BYTES_MAX = 2 ** 40;
/** Of a size that is read at once: far below the largest one. */
const PLAIN_DIGITS_MAX = 6;

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const COLON = 58;
const SEMICOLON = 59;
const DELETE = 127;

export type BodyDecoder = {
  /** Where the body ended in the last bytes; undefined before its end. */
  readonly end: number | undefined;
  /**
   * Takes the bytes from `start` on, and may overwrite them. The returned part of the body shares
   * their memory and may be empty. Must not be called after the end or a fault.
   */
  readonly feed: (bytes: Buffer, start: number) => Buffer | HttpFault;
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

export class ChunkedDecoder implements BodyDecoder {
  end: number | undefined;
  private state: State = 'size-start';
  /** The rest of the current chunk, or the part of its size read so far. */
  private size = 0;
  private lineBytes = 0;

  feed(bytes: Buffer, start: number): Buffer | HttpFault {
    let at = start;
    let bodyStart = start;
    let bodyEnd = start;
    while (at < bytes.length) {
      if (this.state === 'data') {
        const taken = Math.min(this.size, bytes.length - at);
        if (bodyEnd === bodyStart) bodyStart = bodyEnd = at;
        else bytes.copyWithin(bodyEnd, at, at + taken);
        bodyEnd += taken;
        at += taken;
        this.size -= taken;
        if (this.size > 0) break;
        const isEnded = bytes[at] === CR && bytes[at + 1] === LF;
        this.state = isEnded ? 'size-start' : 'data-cr';
        if (isEnded) at += 2;
        continue;
      }
      if (this.state === 'size-start') {
        const dataStart = this.plainSize(bytes, at);
        if (dataStart !== undefined) {
          at = dataStart;
          continue;
        }
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if (this.state === 'last-lf') {
        if (byte !== LF) return BAD_TRAILER;
        this.end = at;
        break;
      }
      const fault = this.step(byte) ?? this.countLine();
      if (fault !== undefined) return fault;
    }
    return bytes.subarray(bodyStart, bodyEnd);
  }

  /** Reads a size line at once, as most are: whole, short and without extensions. */
  private plainSize(bytes: Buffer, start: number): number | undefined {
    let size = 0;
    let at = start;
    for (; at < start + PLAIN_DIGITS_MAX; at += 1) {
      const digit = hexDigit(bytes[at] ?? CR);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (size === 0 || bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
    this.size = size;
    this.state = 'data';
    return at + 2;
  }

  /** Processes one byte outside the data; returns a fault if it is not allowed there. */
  private step(byte: number): HttpFault | undefined {
    switch (this.state) {
      case 'size-start':
      case 'size':
        return this.sizeByte(byte);
      case 'padding':
        if (byte === SPACE || byte === TAB) return undefined;
        return this.sizeFollower(byte);
      case 'extension':
        if (byte === CR) this.state = 'size-end';
        return byte !== CR && isControl(byte) ? BAD_SIZE : undefined;
      case 'size-end':
        if (byte !== LF) return BAD_SIZE;
        this.state = this.size === 0 ? 'trailer-start' : 'data';
        this.lineBytes = 0;
        return undefined;
      case 'data-cr':
        this.state = 'data-lf';
        return byte === CR ? undefined : BAD_END;
      case 'data-lf':
        this.state = 'size-start';
        return byte === LF ? undefined : BAD_END;
      default:
        return this.trailerByte(byte);
    }
  }

  private sizeByte(byte: number): HttpFault | undefined {
    const digit = hexDigit(byte);
    if (digit < 0) return this.state === 'size' ? this.sizeFollower(byte) : BAD_SIZE;
    this.state = 'size';
    this.size = this.size * 16 + digit;
    return this.size > CHUNK_BYTES_MAX ? BAD_SIZE : undefined;
  }

  private sizeFollower(byte: number): HttpFault | undefined {
    if (byte === CR) this.state = 'size-end';
    else if (byte === SEMICOLON) this.state = 'extension';
    else if (byte === SPACE || byte === TAB) this.state = 'padding';
    else return BAD_SIZE;
    return undefined;
  }

  private trailerByte(byte: number): HttpFault | undefined {
    const { state } = this;
    if (state === 'trailer-start' && byte === CR) this.state = 'last-lf';
    else if (state === 'trailer-start' || state === 'trailer-name') {
      if (byte === COLON && state === 'trailer-name') this.state = 'trailer-value';
      else if (byte <= SPACE || byte >= DELETE || byte === COLON) return BAD_TRAILER;
      else this.state = 'trailer-name';
    } else if (state === 'trailer-value') {
      if (byte === CR) this.state = 'trailer-lf';
      else if (isControl(byte)) return BAD_TRAILER;
    } else if (byte !== LF) return BAD_TRAILER;
    else this.state = 'trailer-start';
    return undefined;
  }

  private countLine(): HttpFault | undefined {
    if (this.state === 'size-start') {
      this.lineBytes = 0;
      return undefined;
    }
    this.lineBytes += 1;
    const inTrailer = this.state.startsWith('trailer');
    if (this.lineBytes <= (inTrailer ? TRAILER_BYTES_MAX : LINE_BYTES_MAX)) return undefined;
    return inTrailer ? BAD_TRAILER : BAD_SIZE;
  }
}

/** -1 if it is not a hex digit. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Control characters are not allowed in a line, except tab. */
function isControl(byte: number): boolean {
  return (byte < SPACE && byte !== TAB) || byte === DELETE;
}
