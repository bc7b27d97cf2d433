// One request and its answer on one connection. Called by the client with a connection that is its
// own for that long; the connection is given back when the answer is whole, and closed otherwise.

import type { UpstreamFailure } from '../../core/failure.ts';
import { keepAliveMs } from '../../wire/http/framing.ts';
import { createResponseDecoder } from '../../wire/http/response.ts';
import type { ResponseHead } from '../../wire/http/response-head.ts';
import { BROKEN } from '../read-text.ts';
import { GIVEN_UP } from '../transport.ts';
import { createBody, type ResponseBody } from './body.ts';
import type { Connection } from './connection.ts';

type Exchanged = { readonly head: ResponseHead; readonly body: ResponseBody };

const CLOSED: UpstreamFailure = {
  class: 'unreachable',
  detail: 'the connection broke before the answer began',
};

/**
 * Resolves with the head and the body to come, or with a failure. `release` is called when the
 * connection is free again.
 */
export function exchange(
  connection: Connection,
  request: Buffer,
  signal: AbortSignal,
  release: (keepAliveMs: number | undefined) => void,
): Promise<Exchanged | UpstreamFailure> {
  const { promise, resolve } = Promise.withResolvers<Exchanged | UpstreamFailure>();
  let answer: Exchanged | undefined;

  /** The only end of an answer that is not whole. */
  function fail(failure: UpstreamFailure): void {
    signal.removeEventListener('abort', onAbort);
    connection.abort();
    if (answer === undefined) resolve(failure);
    else answer.body.fail(failure);
  }
  const onAbort = (): void => fail(GIVEN_UP);

  function complete(): void {
    signal.removeEventListener('abort', onAbort);
    answer?.body.complete();
    // An answer that came before its request was written leaves the rest of it in the way.
    if (answer === undefined || !decoder.isReusable() || !connection.isWritten()) {
      connection.close();
      return;
    }
    connection.resume();
    release(keepAliveMs(answer.head));
  }

  const decoder = createResponseDecoder(
    (head, length) => {
      const abort = (): void => fail(GIVEN_UP);
      const { pause, resume } = connection;
      answer = { head, body: createBody(length, { pause, resume, abort }) };
      resolve(answer);
    },
    (bytes) => answer?.body.push(bytes),
  );

  connection.receive({
    data(bytes) {
      const step = decoder.feed(bytes);
      if (step === 'complete') complete();
      else if (step !== 'more') {
        fail({ class: 'malformed', detail: `the answer breaks HTTP: ${step.fault}` });
      }
    },
    closed(inOrder) {
      if (inOrder && decoder.close() === 'complete') complete();
      else fail(answer === undefined ? CLOSED : BROKEN);
    },
  });
  signal.addEventListener('abort', onAbort);
  connection.write(request);
  return promise;
}
