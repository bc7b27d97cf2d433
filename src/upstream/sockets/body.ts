// The body of an answer between the socket that fills it and whoever reads it. Where nobody reads,
// little is kept: the socket is paused, and the upstream has to wait.

import type { UpstreamFailure } from '../../core/failure.ts';
import { ANSWER_BYTES_MAX } from '../../wire/upstream/limits.ts';
import { decodeText, readText, TOO_LONG } from '../read-text.ts';
import type { ByteReader } from '../transport.ts';

/** What may wait to be read before the socket is paused; one read of it may come on top. */
const WAITING_BYTES_MAX = 131_072;

type Read = Awaited<ReturnType<ByteReader['read']>>;

export type ResponseBody = ByteReader & {
  readonly text: () => Promise<string | UpstreamFailure>;
  /** The filling side: one of the last two calls is the last one. */
  readonly push: (bytes: Buffer) => void;
  readonly complete: () => void;
  readonly fail: (failure: UpstreamFailure) => void;
};

const DONE: Read = { done: true };

export function createBody(
  /** Where the head tells it. */
  length: number | undefined,
  source: {
    readonly pause: () => void;
    readonly resume: () => void;
    /** The rest is not wanted. */
    readonly abort: () => void;
  },
): ResponseBody {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let end: 'complete' | UpstreamFailure | undefined;
  let reader: PromiseWithResolvers<Read> | undefined;

  function settle(): void {
    if (end === undefined) return;
    if (end === 'complete') reader?.resolve(DONE);
    else reader?.reject(new Error(end.detail));
    reader = undefined;
  }

  function read(): Promise<Read> {
    const value = waiting.shift();
    if (value !== undefined) {
      waitingBytes -= value.length;
      // Once the answer is whole, its connection may already carry another one.
      if (end === undefined && waitingBytes < WAITING_BYTES_MAX) source.resume();
      return Promise.resolve({ done: false, value });
    }
    reader = Promise.withResolvers<Read>();
    const { promise } = reader;
    settle();
    return promise;
  }

  async function cancel(): Promise<void> {
    if (end === undefined) source.abort();
    waiting = [];
    waitingBytes = 0;
  }

  const body: ResponseBody = {
    read,
    cancel,
    async text() {
      if (length !== undefined && length > ANSWER_BYTES_MAX) {
        await cancel();
        return TOO_LONG;
      }
      if (end !== 'complete' || waitingBytes > ANSWER_BYTES_MAX) return readText(body);
      const pieces = waiting;
      waiting = [];
      return decodeText(pieces);
    },
    push(bytes) {
      if (reader !== undefined) {
        reader.resolve({ done: false, value: bytes });
        reader = undefined;
        return;
      }
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= WAITING_BYTES_MAX) source.pause();
    },
    complete() {
      end = 'complete';
      settle();
    },
    fail(failure) {
      end = failure;
      settle();
    },
  };
  return body;
}
