// Collects the summary of one request from its handler and the pipeline, and reports it once: when
// it has been answered and, if it had a grant, settled. A stream is settled after its headers are
// sent, everything else before.

import type { ClientFormatName } from '../core/admit.ts';
import type { ErrorCode } from '../core/error.ts';
import type { AnswerSummary, RequestSummary, RouteName } from '../core/request-summary.ts';
import type { RequestTrace } from '../core/trace.ts';
import type { RequestObserver } from '../generate/pipeline-types.ts';

export type Tallies = {
  readonly start: (
    requestId: string,
    route: RouteName,
    format: ClientFormatName,
    trace?: RequestTrace,
  ) => Tally;
  /** Streams whose answer is in progress, or drained after a disconnect. */
  readonly openStreams: () => number;
};

type Teller = {
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly tell: (summary: RequestSummary) => void;
  openStreams: number;
};

export function createTallies(dependencies: Omit<Teller, 'openStreams'>): Tallies {
  const teller: Teller = { ...dependencies, openStreams: 0 };
  return {
    start: (...begun) => new Tally(teller, ...begun),
    openStreams: () => teller.openStreams,
  };
}

/** The summary of a request while it is collected. Immutable once reported. */
export class Tally implements RequestSummary, RequestObserver {
  readonly requestId: string;
  readonly route: RouteName;
  readonly format: ClientFormatName;
  status = 0;
  code: ErrorCode | undefined;
  accountId: string | undefined;
  keyId: string | undefined;
  model: string | undefined;
  stream: boolean | undefined;
  durationMs = 0;
  answer: AnswerSummary | undefined;
  replayOf: string | undefined;
  readonly trace: RequestTrace | undefined;
  // Private, so it is not part of the summary.
  readonly #teller: Teller;
  readonly #startedAt: number;
  /** Its stream has begun and is not settled. */
  #isStreaming = false;

  constructor(teller: Teller, ...[requestId, route, format, trace]: Parameters<Tallies['start']>) {
    this.#teller = teller;
    this.requestId = requestId;
    this.route = route;
    this.format = format;
    this.trace = trace;
    this.#startedAt = teller.monotonic();
  }

  identified({ accountId, keyId }: { readonly accountId: string; readonly keyId: string }): void {
    this.accountId = accountId;
    this.keyId = keyId;
  }

  /** The response repeats the answer of an earlier request. */
  replays(requestId: string): void {
    this.replayOf = requestId;
  }

  understood(model: string, stream: boolean): void {
    this.model = model;
    this.stream = stream;
  }

  ended(summary: AnswerSummary): void {
    this.answer = summary;
    if (!this.#isStreaming) return;
    this.#teller.openStreams -= 1;
    this.answered(this.status);
  }

  /** The response is ready; `code` is set if it is a refusal. */
  answered(status: number, code?: ErrorCode): void {
    this.status = status;
    this.code = code;
    this.durationMs = this.#teller.monotonic() - this.#startedAt;
    this.#teller.tell(this);
  }

  /** The headers are ready, and the answer follows. */
  streaming(status: number): void {
    if (this.answer !== undefined) {
      this.answered(status);
      return;
    }
    this.status = status;
    this.#isStreaming = true;
    this.#teller.openStreams += 1;
  }
}
