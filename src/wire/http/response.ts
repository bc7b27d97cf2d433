// The answers of one HTTP/1.x connection, bytes to heads and bodies. Called by the connection
// client with each read, one decoder for each request. It never waits and never keeps more than an
// unfinished head. Any split of the same bytes gives the same answer, and an answer that is not
// whole is never called complete.

import { type BodyDecoder, ChunkedDecoder } from './chunked.ts';
import { type HttpFault, isFault } from './fault.ts';
import { type Framing, framingOf, staysOpen } from './framing.ts';
import { HeadReader, type ResponseHead } from './response-head.ts';

/** Answers before the answer, such as 100 and 103. */
const INTERIM_MAX = 8;

export type AnswerParts = {
  /** `bodyBytes` is the length of the body where the head tells it. */
  readonly onHead: (head: ResponseHead, bodyBytes: number | undefined) => void;
  /** Never empty; shares its memory with the bytes that were fed. */
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
   * Takes the next bytes of the connection, which it may overwrite. No call may follow a `complete`
   * or a fault.
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

  /** The server has closed the connection in good order. */
  close(): 'complete' | HttpFault {
    return this.framing === 'close' ? 'complete' : CUT;
  }

  private complete(bytes: Buffer, end: number): 'complete' {
    // What follows an answer belongs to no request of ours.
    this.isReusable = this.isOpen && end === bytes.length;
    return 'complete';
  }

  /** One head: where it ended, unless that ends the answer, breaks it or needs more bytes. */
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
