// Decodes the responses of one HTTP/1.x connection into heads and bodies, one decoder per request.
// It never waits and buffers at most an incomplete head. The result does not depend on how the
// bytes are split, and an incomplete response is never reported as complete.

import { type BodyDecoder, ChunkedDecoder } from './chunked.ts';
import { type HttpFault, isFault } from './fault.ts';
import { type Framing, framingOf, staysOpen } from './framing.ts';
import { HeadReader, type ResponseHead } from './response-head.ts';

/** Interim responses, such as 100 and 103. */
const INTERIM_MAX = 8;

export type AnswerParts = {
  /** `bodyBytes` is the length of the body, if the head states it. */
  readonly onHead: (head: ResponseHead, bodyBytes: number | undefined) => void;
  /** Never empty; shares its memory with the bytes passed to `feed`. */
  readonly onBody: (bytes: Buffer) => void;
};

const CUT: HttpFault = { fault: 'the connection closed before it was complete' };

export class ResponseDecoder {
  /** After `complete`: whether another request may follow on the connection. */
  isReusable = false;
  private readonly parts: AnswerParts;
  private readonly heads = new HeadReader();
  private framing: Framing | undefined;
  private body: BodyDecoder | undefined;
  private interim = 0;
  private isOpen = false;

  constructor(parts: AnswerParts) {
    this.parts = parts;
  }

  /**
   * Takes the next bytes of the connection, which it may overwrite. Must not be called after
   * `complete` or a fault.
   */
  feed(bytes: Buffer): 'more' | 'complete' | HttpFault {
    let start = 0;
    while (this.body === undefined) {
      const fed = this.feedHead(bytes, start);
      if (typeof fed !== 'number') return fed;
      start = fed;
      if (start === bytes.length) return 'more';
    }
    const part = this.body.feed(bytes, start);
    if (isFault(part)) return part;
    if (part.length > 0) this.parts.onBody(part);
    return this.body.end === undefined ? 'more' : this.complete(bytes, this.body.end);
  }

  /** The server has closed the connection cleanly. */
  close(): 'complete' | HttpFault {
    return this.framing === 'close' ? 'complete' : CUT;
  }

  private complete(bytes: Buffer, end: number): 'complete' {
    // Bytes after a response belong to none of our requests.
    this.isReusable = this.isOpen && end === bytes.length;
    return 'complete';
  }

  /**
   * Reads one head. Returns where it ended, unless it ends the response, is invalid or incomplete.
   */
  private feedHead(bytes: Buffer, start: number): number | 'more' | 'complete' | HttpFault {
    const read = this.heads.read(bytes, start);
    if (read === undefined) return 'more';
    if (isFault(read)) return read;
    const { status, end } = read;
    if (status === 101) return { fault: 'it changes to another protocol' };
    if (status < 200) {
      this.interim += 1;
      return this.interim > INTERIM_MAX ? { fault: 'too many answers before the answer' } : end;
    }
    const framed = framingOf(read);
    if (typeof framed === 'object') return framed;
    this.framing = framed;
    this.isOpen = staysOpen(read, framed);
    this.body = bodyDecoder(framed);
    this.parts.onHead(read, typeof framed === 'number' ? framed : undefined);
    return this.body === undefined ? this.complete(bytes, end) : end;
  }
}

function bodyDecoder(framing: Framing): BodyDecoder | undefined {
  if (framing === 'chunked') return new ChunkedDecoder();
  if (framing === 'close') return { end: undefined, feed: (bytes, start) => bytes.subarray(start) };
  return framing === 0 ? undefined : new LengthDecoder(framing);
}

class LengthDecoder implements BodyDecoder {
  end: number | undefined;
  private left: number;

  constructor(length: number) {
    this.left = length;
  }

  feed(bytes: Buffer, start: number): Buffer {
    const end = start + Math.min(this.left, bytes.length - start);
    this.left -= end - start;
    if (this.left === 0) this.end = end;
    return bytes.subarray(start, end);
  }
}
