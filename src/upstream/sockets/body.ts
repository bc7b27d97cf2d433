// The body of an answer between the socket that fills it and its reader. Where it is not read, little
// is kept: the socket is paused, and the upstream has to wait.

import type { Awaitable } from '../../async/awaitable.ts';
import type { UpstreamFailure } from '../../core/failure.ts';
import { ANSWER_BYTES_MAX } from '../../wire/upstream/limits.ts';
import { decodeText, readText, TOO_LONG } from '../read-text.ts';
import type { ByteReader } from '../transport.ts';

/** What may wait to be read before the socket is paused; one read of it may come on top. */
const WAITING_BYTES_MAX = 131_072;

type Read = Awaited<ReturnType<ByteReader['read']>>;

const DONE: Read = { done: true };

type BodySource = {
  readonly pause: () => void;
  readonly resume: () => void;
  /** The rest is not wanted. */
  readonly abort: () => void;
};

export class ResponseBody implements ByteReader {
  private readonly source: BodySource;
  /** Where the head tells it. */
  private readonly length: number | undefined;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private end: 'complete' | UpstreamFailure | undefined;
  private reader: PromiseWithResolvers<Read> | undefined;

  constructor(source: BodySource, length: number | undefined) {
    this.source = source;
    this.length = length;
  }

  read(): Promise<Read> {
    const value = this.waiting.shift();
    if (value !== undefined) {
      this.waitingBytes -= value.length;
      // Once the answer is whole, its connection may already carry another one.
      if (this.end === undefined && this.waitingBytes < WAITING_BYTES_MAX) this.source.resume();
      return Promise.resolve({ done: false, value });
    }
    this.reader = Promise.withResolvers<Read>();
    const { promise } = this.reader;
    this.settle();
    return promise;
  }

  async cancel(): Promise<void> {
    if (this.end === undefined) this.source.abort();
    this.waiting = [];
    this.waitingBytes = 0;
  }

  text(): Awaitable<string | UpstreamFailure> {
    const { length, waiting } = this;
    if (length !== undefined && length > ANSWER_BYTES_MAX) {
      return this.cancel().then(() => TOO_LONG);
    }
    if (this.end !== 'complete' || this.waitingBytes > ANSWER_BYTES_MAX) return readText(this);
    this.waiting = [];
    return decodeText(waiting);
  }

  /** The filling side: one of the last two calls is the last one. */
  push(bytes: Buffer): void {
    if (this.reader !== undefined) {
      this.reader.resolve({ done: false, value: bytes });
      this.reader = undefined;
      return;
    }
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes >= WAITING_BYTES_MAX) this.source.pause();
  }

  complete(): void {
    this.end = 'complete';
    this.settle();
  }

  fail(failure: UpstreamFailure): void {
    this.end = failure;
    this.settle();
  }

  private settle(): void {
    if (this.end === undefined) return;
    if (this.end === 'complete') this.reader?.resolve(DONE);
    else this.reader?.reject(new Error(this.end.detail));
    this.reader = undefined;
  }
}
