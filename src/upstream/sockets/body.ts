// Buffers an answer between the socket and the reader. If the reader does not keep up, the socket
// is paused, which slows the upstream down.

import type { Awaitable } from '../../async/awaitable.ts';
import type { UpstreamFailure } from '../../core/failure.ts';
import type { ResponseHead } from '../../wire/http/response-head.ts';
import { readRetryAfterMs } from '../../wire/http/retry-after.ts';
import { ANSWER_BYTES_MAX } from '../../wire/upstream/limits.ts';
import { decodeText, readText, TOO_LONG } from '../read-text.ts';
import { type ByteReader, isJsonType, type Read, type UpstreamAnswer } from '../transport.ts';

/** Bytes buffered before the socket is paused; one more read may exceed it. */
const WAITING_BYTES_MAX = 131_072;

/** Small buffered pieces are joined up to this size. */
const JOINED_BYTES_MAX = 32_768;

const DONE: Read = { done: true };

type BodySource = {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called when the rest is not wanted. */
  readonly abort: () => void;
};

export class SocketAnswer implements UpstreamAnswer, ByteReader {
  readonly status: number;
  readonly isJson: boolean;
  readonly retryAfterMs: number | undefined;
  private readonly source: BodySource;
  /** From the head, if it states one. */
  private readonly length: number | undefined;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  private end: 'complete' | UpstreamFailure | undefined;
  private waiter: PromiseWithResolvers<Read> | undefined;

  constructor(
    source: BodySource,
    head: ResponseHead,
    length: number | undefined,
    clock: () => number,
  ) {
    this.status = head.status;
    this.isJson = isJsonType(head.contentType);
    this.retryAfterMs = readRetryAfterMs(head.retryAfterMs, head.retryAfter, clock);
    this.source = source;
    this.length = length;
  }

  reader(): ByteReader {
    return this;
  }

  read(): Awaitable<Read> {
    if (this.waiting.length > 0) {
      const value = this.takeWaiting();
      this.waitingBytes -= value.length;
      // After the answer is complete, its connection may already carry another one.
      if (this.end === undefined && this.waitingBytes < WAITING_BYTES_MAX) this.source.resume();
      return { done: false, value };
    }
    this.waiter = Promise.withResolvers<Read>();
    const { promise } = this.waiter;
    this.settle();
    return promise;
  }

  async cancel(): Promise<void> {
    if (this.end === undefined) this.source.abort();
    this.waiting.length = 0;
    this.waitingBytes = 0;
  }

  text(): Awaitable<string | UpstreamFailure> {
    const { length, waiting } = this;
    if (length !== undefined && length > ANSWER_BYTES_MAX) {
      return this.cancel().then(() => TOO_LONG);
    }
    if (this.end !== 'complete' || this.waitingBytes > ANSWER_BYTES_MAX) return readText(this);
    const text = decodeText(waiting);
    waiting.length = 0;
    return text;
  }

  /** For the writing side, which ends with exactly one of the last two calls. */
  push(bytes: Buffer): void {
    if (this.waiter !== undefined) {
      this.waiter.resolve({ done: false, value: bytes });
      this.waiter = undefined;
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

  private takeWaiting(): Buffer {
    const { waiting } = this;
    let bytes = waiting[0]?.length ?? 0;
    let count = 1;
    for (; count < waiting.length; count += 1) {
      bytes += waiting[count]?.length ?? 0;
      if (bytes > JOINED_BYTES_MAX) break;
    }
    const taken = waiting.splice(0, count);
    return taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken);
  }

  private settle(): void {
    if (this.end === undefined) return;
    if (this.end === 'complete') this.waiter?.resolve(DONE);
    else this.waiter?.reject(new Error(this.end.detail));
    this.waiter = undefined;
  }
}
