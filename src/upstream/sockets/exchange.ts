// One request and its answer on one connection, which it owns until the answer ends. After a
// complete answer the connection is released, otherwise closed.

import type { UpstreamFailure } from '../../core/failure.ts';
import { keepAliveMs } from '../../wire/http/framing.ts';
import { type AnswerParts, ResponseDecoder } from '../../wire/http/response.ts';
import type { ResponseHead } from '../../wire/http/response-head.ts';
import { decompress } from '../decompress.ts';
import { BROKEN, readText } from '../read-text.ts';
import type { StopSignal } from '../stop.ts';
import { GIVEN_UP, type UpstreamAnswer } from '../transport.ts';
import { SocketAnswer } from './body.ts';
import type { Connection, Receiver } from './connection.ts';

/** The target of the request, shared by all requests to it. */
type ExchangePlace = {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Takes back a reusable connection, with the server's keep-alive time. */
  readonly release: (connection: Connection, keepAliveMs: number | undefined) => void;
};

const CLOSED: UpstreamFailure = {
  class: 'unreachable',
  detail: 'the connection broke before the answer began',
};
const KEPT_CLOSED: UpstreamFailure = { ...CLOSED, onKeptConnection: true };

export class UpstreamExchange implements Receiver, AnswerParts {
  /** The answer with its body still to come, or a failure. */
  readonly answered: Promise<UpstreamAnswer | UpstreamFailure>;
  private readonly connection: Connection;
  private readonly signal: StopSignal;
  private readonly place: ExchangePlace;
  private readonly isKept: boolean;
  private readonly decoder = new ResponseDecoder(this);
  private readonly resolve: (answer: UpstreamAnswer | UpstreamFailure) => void;
  private answer: SocketAnswer | undefined;
  private keepAliveMs: number | undefined;

  /** Sends the request. `isKept`: the connection has served an earlier one. */
  constructor(
    connection: Connection,
    request: Buffer,
    signal: StopSignal,
    place: ExchangePlace,
    isKept: boolean,
  ) {
    const { promise, resolve } = Promise.withResolvers<UpstreamAnswer | UpstreamFailure>();
    this.answered = promise;
    this.resolve = resolve;
    this.connection = connection;
    this.signal = signal;
    this.place = place;
    this.isKept = isKept;
    connection.receive(this);
    signal.addEventListener('abort', this);
    connection.write(request);
  }

  data(bytes: Buffer): void {
    const step = this.decoder.feed(bytes);
    if (step === 'complete') this.complete();
    else if (step !== 'more') {
      this.fail({ class: 'malformed', detail: `the answer breaks HTTP: ${step.fault}` });
    }
  }

  closed(inOrder: boolean): void {
    if (inOrder && this.decoder.close() === 'complete') this.complete();
    else if (this.answer !== undefined) this.fail(BROKEN);
    else this.fail(this.isKept ? KEPT_CLOSED : CLOSED);
  }

  onHead(head: ResponseHead, length: number | undefined): void {
    this.answer = new SocketAnswer(this, head, length, this.place.clock);
    this.keepAliveMs = keepAliveMs(head);
    this.resolve(unpacked(this.answer, head.contentEncoding));
  }

  onBody(bytes: Buffer): void {
    this.answer?.push(bytes);
  }

  pause(): void {
    this.connection.pause();
  }

  resume(): void {
    this.connection.resume();
  }

  abort(): void {
    this.fail(GIVEN_UP);
  }

  /** Listener of the signal. */
  handleEvent(): void {
    this.abort();
  }

  /** The only way in which an incomplete answer ends. */
  private fail(failure: UpstreamFailure): void {
    this.signal.removeEventListener('abort', this);
    this.connection.abort();
    if (this.answer === undefined) this.resolve(failure);
    else this.answer.fail(failure);
  }

  private complete(): void {
    const { answer, connection } = this;
    this.signal.removeEventListener('abort', this);
    answer?.complete();
    // If the answer arrived before the request was fully written, the rest would corrupt the next
    // one.
    if (answer === undefined || !this.decoder.isReusable || !connection.isWritten()) {
      connection.finish();
      return;
    }
    connection.resume();
    this.place.release(connection, this.keepAliveMs);
  }
}

/** The answer with a decompressed body. */
function unpacked(
  answer: SocketAnswer,
  coding: string | undefined,
): UpstreamAnswer | UpstreamFailure {
  if (coding === undefined || coding === 'identity' || coding === '') return answer;
  const { status, isJson, retryAfterMs } = answer;
  const reader = decompress(answer, coding);
  if (reader !== undefined) {
    return { status, isJson, retryAfterMs, text: () => readText(reader), reader: () => reader };
  }
  answer.cancel();
  return { class: 'malformed', detail: 'the answer is compressed in an unknown way', status };
}
