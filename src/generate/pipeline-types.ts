// What a generation request carries on its way through the pipeline, and what the pipeline is built
// from. Types alone.

import type { Awaitable } from '../async/awaitable.ts';
import type { Alert } from '../core/alert.ts';
import type { GenerationRequest } from '../core/generation.ts';
import type { Catalog, Model } from '../core/model.ts';
import type { Tokens } from '../core/money.ts';
import type { OperatorState } from '../core/operator.ts';
import type { Plan } from '../core/plan.ts';
import type { Price } from '../core/price.ts';
import type { AnswerSummary } from '../core/request-summary.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { Ledger } from '../ledger/contract.ts';
import type { AccountLimits } from '../limits/contract.ts';
import type { ReasoningStore } from '../reasoning/reasoning.ts';
import type { StartAttempt } from '../upstream/attempt.ts';
import type { Health } from '../upstream/health.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { ClientFormat, ParsedBody } from '../wire/format.ts';
import type { RequestEntrance } from './entrance.ts';
import type { Funds } from './funds.ts';
import type { InFlight } from './in-flight.ts';
import type { Tokenizer } from './tokenizer.ts';

export type GenerateDependencies = {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly random: () => number;
  readonly limits: AccountLimits;
  /** In front of the same limits. */
  readonly entrance: RequestEntrance;
  readonly ledger: Ledger;
  readonly tokenizer: Tokenizer;
  readonly funds: Funds;
  /** Absent where the operator has switched it off. */
  readonly reasoning: ReasoningStore | undefined;
  readonly startAttempt: StartAttempt;
  readonly health: Health;
  readonly startTimer: StartTimer;
  readonly inFlight: InFlight;
  /** For what an operator has to do something about, such as a credential that is refused. */
  readonly alert: (alert: Alert) => void;
  /** For errors that nobody threw on purpose, after the commit point. */
  readonly onInternal: (requestId: string, error: unknown) => void;
  readonly heartbeatMs: number;
  readonly silentCommitMs: number;
  readonly booking: Booking;
};

/**
 * Whether the end of an answer waits until its bill is booked, since another node may end the hold of
 * one that is cut off, or the receipt says what will be booked where that takes too long.
 */
export type Booking = 'awaited' | 'bounded';

export type GenerationCall = {
  readonly format: ClientFormat;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** What operators had set when the request began; all of the request is served by it. */
  readonly operator: OperatorState;
  /** Checks the key and the account's standing, or throws. */
  readonly authorize: () => Awaitable<KeyFacts>;
  readonly readBody: () => Promise<ParsedBody>;
  readonly tally: RequestObserver;
  /** Fires when the client leaves before its answer is complete. */
  readonly signal: AbortSignal;
};

/** A request of the playground, whose session the dashboard has checked. Its body is unread. */
export type PlaygroundCall = {
  readonly request: Request;
  readonly server: { readonly timeout: (request: Request, seconds: number) => void } | null;
  readonly requestId: string;
  readonly accountId: string;
  /** The network address of the client. */
  readonly address: string;
};

/** A request that was understood and may be served, as far as limits and balance allow. */
export type CheckedRequest = {
  readonly call: GenerationCall;
  readonly facts: KeyFacts;
  /** With the thinking that its client lost. */
  readonly request: GenerationRequest;
  readonly catalog: Catalog;
  readonly plan: Plan;
  readonly model: Model;
  /** The model's when the request started; it stays, whatever the clock or the catalog do. */
  readonly price: Price;
  /** Estimated. */
  readonly promptTokens: Tokens;
  /** What model, plan and caller allow; the grant lowers it to what the balance could pay. */
  readonly outputBound: Tokens;
};

/** Told what a request turns out to be, for the operator's log and metrics. */
export type RequestObserver = {
  /** It names a model; `model` is the slug of the catalog. */
  readonly understood: (model: string, stream: boolean) => void;
  /** Once for each request that had a grant. */
  readonly ended: (answer: AnswerSummary) => void;
};
