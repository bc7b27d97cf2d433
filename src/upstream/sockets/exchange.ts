// One request and its answer on one connection. Made by the client with a connection that is its own
// for that long; the connection is given back when the answer is whole, and closed otherwise.

import type { UpstreamFailure } from '../../core/failure.ts';
import { keepAliveMs } from '../../wire/http/framing.ts';
import { type AnswerParts, ResponseDecoder } from '../../wire/http/response.ts';
import type { ResponseHead } from '../../wire/http/response-head.ts';
import { BROKEN } from '../read-text.ts';
import type { StopSignal } from '../stop.ts';
import { GIVEN_UP } from '../transport.ts';
import { ResponseBody } from './body.ts';
import type { Connection, Receiver } from './connection.ts';

type Exchanged = { readonly head: ResponseHead; readonly body: ResponseBody };

/** Takes back a connection that is free again. */
export type Release = (connection: Connection, keepAliveMs: number | undefined) => void;

const CLOSED: UpstreamFailure = {
  class: 'unreachable',
  detail: 'the connection broke before the answer began',
};

export class UpstreamExchange implements Receiver, AnswerParts {
  /** The head and the body to come, or a failure. */
  readonly answered: Promise<Exchanged | UpstreamFailure>;
  private readonly connection: Connection;
  private readonly signal: StopSignal;
  private readonly release: Release;
  private readonly decoder = new ResponseDecoder(this);
  private readonly onAbort = (): void => this.abort();
  private readonly resolve: (answer: Exchanged | UpstreamFailure) => void;
  private answer: Exchanged | undefined;

  /** Sends the request. */
  constructor(connection: Connection, request: Buffer, signal: StopSignal, release: Release) {
    const { promise, resolve } = Promise.withResolvers<Exchanged | UpstreamFailure>();
    this.answered = promise;
    this.resolve = resolve;
    this.connection = connection;
    this.signal = signal;
    this.release = release;
    connection.receive(this);
    signal.addEventListener('abort', this.onAbort);
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
    else this.fail(this.answer === undefined ? CLOSED : BROKEN);
  }

  onHead(head: ResponseHead, length: number | undefined): void {
    this.answer = { head, body: new ResponseBody(this, length) };
    this.resolve(this.answer);
  }

  onBody(bytes: Buffer): void {
    this.answer?.body.push(bytes);
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

  /** The only end of an answer that is not whole. */
  private fail(failure: UpstreamFailure): void {
    this.signal.removeEventListener('abort', this.onAbort);
    this.connection.abort();
    if (this.answer === undefined) this.resolve(failure);
    else this.answer.body.fail(failure);
  }

  private complete(): void {
    const { answer, connection } = this;
    this.signal.removeEventListener('abort', this.onAbort);
    answer?.body.complete();
    // An answer that came before its request was written leaves the rest of it in the way.
    if (answer === undefined || !this.decoder.isReusable || !connection.isWritten()) {
      connection.finish();
      return;
    }
    connection.resume();
    this.release(connection, keepAliveMs(answer.head));
  }
}
