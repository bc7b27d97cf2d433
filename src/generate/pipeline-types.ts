// Types of the generation pipeline: what it is built from, and what a request carries through it.

import type { Awaitable } from '../async/awaitable.ts';
import type { Alert } from '../core/alert.ts';
import type { HeardWords } from '../core/failure.ts';
import type { GenerationRequest, Receipt } from '../core/generation.ts';
import type { Learned } from '../core/learned.ts';
import type { Catalog, Model } from '../core/model.ts';
import type { Tokens } from '../core/money.ts';
import type { LimitView, Plan } from '../core/plan.ts';
import type { Price } from '../core/price.ts';
import type { AnswerSummary } from '../core/request-summary.ts';
import type { ServiceState } from '../core/service-state.ts';
import type { RequestTrace } from '../core/trace.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { Ledger } from '../ledger/contract.ts';
import type { AccountLimits } from '../limits/contract.ts';
import type { ReasoningStore } from '../reasoning/reasoning.ts';
import type { StartAttempt } from '../upstream/attempt.ts';
import type { Health } from '../upstream/health.ts';
import type { FindPrivateHost } from '../upstream/image-hosts.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { ClientFormat, ParsedBody } from '../wire/format.ts';
import type { RequestEntrance } from './entrance.ts';
import type { Funds } from './funds.ts';
import type { InFlight } from './in-flight.ts';
import type { Tokenizer } from './tokenizer.ts';

export type GenerateDependencies = {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly random: () => number;
  readonly limits: AccountLimits;
  /** Guards the same limits. */
  readonly entrance: RequestEntrance;
  readonly ledger: Ledger;
  readonly tokenizer: Tokenizer;
  readonly funds: Funds;
  readonly learned: Learned;
  /** Absent if the operator has disabled it. */
  readonly reasoning: ReasoningStore | undefined;
  readonly startAttempt: StartAttempt;
  readonly health: Health;
  readonly findPrivateHost: FindPrivateHost;
  readonly startTimer: StartTimer;
  /** The same by one shared timer, up to a sweep late: for what most requests never wait for. */
  readonly startDeadline: StartTimer;
  readonly inFlight: InFlight;
  /** Raises alerts for the operator, such as a refused credential. */
  readonly alert: (alert: Alert) => void;
  /** Takes what an upstream said of a failed attempt, for operators. It must not throw. */
  readonly heard: (words: HeardWords) => void;
  /** Reports unexpected errors after the commit point. */
  readonly onInternal: (requestId: string, error: unknown) => void;
  readonly heartbeatMs: number;
  readonly silentCommitMs: number;
  readonly booking: Booking;
};

/**
 * Whether the end of an answer waits until its charge is booked. `awaited`: always, because another
 * node may end the hold. `bounded`: for a limited time, after which the receipt states what will be
 * booked.
 */
export type Booking = 'awaited' | 'bounded';

export type BodyBytes = {
  /** Takes room for so many more bytes of a body. Throws if there is none. */
  readonly take: (bytes: number) => void;
  /** Takes the bytes themselves, to free them when the body is needed no longer. */
  readonly keep: (body: Uint8Array) => void;
};

export type GenerationCall = {
  readonly format: ClientFormat;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The state of the service when the request began. It serves the whole request. */
  readonly serviceState: ServiceState;
  /** Checks the key and the account's standing, or throws. */
  readonly authorize: () => Awaitable<KeyFacts>;
  /** Its bytes are taken from `room` before they are kept. */
  readonly readBody: (room: BodyBytes) => Promise<ParsedBody>;
  readonly tally: RequestObserver;
  /** Absent without tracing. */
  readonly trace?: RequestTrace | undefined;
  /** Fires if the client disconnects before its answer is complete. */
  readonly signal: AbortSignal;
  /** Called when the answer has ended, or its client is gone: silence is the client's from here on. */
  readonly limitIdle?: () => void;
  /** Absent without an `Idempotency-Key`. */
  readonly keyed?: KeyedCall | undefined;
};

/** What an `Idempotency-Key` adds to a request. What its functions throw ends the request. */
export type KeyedCall = {
  /** Never fires: a disconnect ends nothing, because a repeat may fetch the answer for a day. */
  readonly signal: AbortSignal;
  /** Called before the body is read. */
  readonly enter: (facts: KeyFacts, plan: Plan) => void;
  /** Whether the key is new: a repeat needs neither a slot nor a balance. */
  readonly isNew: (facts: KeyFacts) => Promise<boolean>;
  /** The answer of the first request. Undefined if this is the first one. */
  readonly find: (facts: KeyFacts, plan: Plan, body: ParsedBody) => Promise<Repeat | undefined>;
  /** Called after the limits were claimed and before money is held; again in a second look. */
  readonly claim: () => Promise<void>;
  /** The stream of the client. Calls `onGone` if the answer has no reader any more. */
  readonly openStream: (onGone: () => void) => AnswerStream;
};

/** The client's end of a stream, as the pipeline writes to it. */
export type AnswerStream = {
  readonly body: ReadableStream<Uint8Array>;
  /** Returns a promise if the writer should wait for the client to catch up. */
  readonly write: (text: string) => Promise<void> | undefined;
  /** Whether what is written has no reader any more. */
  readonly gone: () => boolean;
  /** Reports a disconnect. */
  readonly leave: () => void;
  /** Wakes a writer that waits for the client. */
  readonly hurry: () => void;
  readonly close: (last: string) => void;
};

/** Answers a repeat, which has used its request of the minute. */
export type Repeat = () => Promise<Response>;

/** A playground request whose session the dashboard has checked. Its body is unread. */
export type PlaygroundCall = {
  readonly request: Request;
  readonly server: { readonly timeout: (request: Request, seconds: number) => void } | null;
  readonly requestId: string;
  readonly accountId: string;
  /** The network address of the client. */
  readonly address: string;
};

/** A valid request that may be served if limits and balance allow. */
export type CheckedRequest = {
  readonly call: GenerationCall;
  readonly facts: KeyFacts;
  /** With the thinking that its client did not return. */
  readonly request: GenerationRequest;
  readonly catalog: Catalog;
  readonly plan: Plan;
  readonly model: Model;
  /**
   * The model's price when the request began. Later changes of the clock or the catalog do not
   * affect it.
   */
  readonly price: Price;
  /** Estimated. */
  readonly promptTokens: Tokens;
  /** The bound set by model, plan and caller. The grant lowers it to what the balance can pay. */
  readonly outputBound: Tokens;
};

/** What a request has come to. */
export type Generated =
  | {
      readonly kind: 'whole';
      readonly body: string;
      readonly modelServed: string;
      readonly limits: LimitView;
      readonly receipt: Receipt;
    }
  | {
      /** The receipt is part of the last event. */
      readonly kind: 'stream';
      readonly body: ReadableStream<Uint8Array>;
      /** Absent if the headers are sent before an upstream has answered. */
      readonly modelServed?: string;
      readonly limits: LimitView;
    }
  /** The answer of an earlier request with the same `Idempotency-Key`. */
  | { readonly kind: 'repeated'; readonly response: Response }
  /** The client disconnected, so there is no response. */
  | { readonly kind: 'cancelled' };

/** Receives the facts of a request for the operator's log and metrics. */
export type RequestObserver = {
  /** The request names a model; `model` is its slug in the catalog. */
  readonly understood: (model: string, stream: boolean) => void;
  /** Called once for each request that had a grant. */
  readonly ended: (answer: AnswerSummary) => void;
};
