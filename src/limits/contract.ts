// What the limits are asked and what they answer: plain data and functions, the same for every
// implementation. test/limits/contract.ts is the suite that each of them has to pass.

import type { Awaitable } from '../async/awaitable.ts';
import type { LimitCode } from '../core/admit.ts';
import type { Span } from '../core/calendar.ts';
import type { Tokens } from '../core/money.ts';
import type { IncidentLimits, LimitView, Plan } from '../core/plan.ts';

export type ClaimRequest = {
  readonly requestId: string;
  /** When the request started, Unix milliseconds: it belongs to that day and month for good. */
  readonly startedAt: number;
  readonly accountId: string;
  /** The slug that was asked for. */
  readonly model: string;
  readonly plan: Plan;
  /** The model's own limits while there are any. */
  readonly incident: IncidentLimits | undefined;
  readonly promptTokens: Tokens;
  readonly outputBound: Tokens;
};

/** What a request was given. It is ended once, by `settle` or `cancel`; later calls do nothing. */
export type Claim = {
  /** What is left now that this request is counted. */
  readonly view: LimitView;
  /** The request's, lowered to what its day and month leave beside the prompt. */
  readonly outputBound: Tokens;
  /** Frees the slot ahead of the end: the client has left, and its upstream is still read. */
  readonly freeSlot: () => void;
  /** Ends the claim: frees the slot and corrects the caps to the tokens that were really used. */
  readonly settle: (usedTokens: number) => void;
  /**
   * Ends the claim as if it had never been made, at once, and says what is left: a later stage
   * refuses. With `request` it stays counted as a request. Never rejects.
   */
  readonly cancel: (keeps?: 'request') => Awaitable<LimitView>;
};

export type Refusal = {
  readonly kind: 'refused';
  readonly code: LimitCode;
  /** Where the code alone does not say enough. */
  readonly message?: string;
  readonly retryAfterSeconds: number;
  readonly view: LimitView;
};

export type ClaimResult = { readonly kind: 'claimed'; readonly claim: Claim } | Refusal;

export type LimitUsage = {
  readonly requestsUsed: number;
  readonly tokensUsed: number;
  readonly resetSeconds: number;
  readonly inFlight: number;
  readonly dayTokens: number;
  readonly monthTokens: number;
};

/** What the books or other nodes have to be asked for first is promised; the rest is known at once. */
export type AccountLimits = {
  /** What is left of the plan's windows, before a request is looked at. Consumes nothing. */
  readonly left: (accountId: string, plan: Plan) => Awaitable<LimitView>;
  /** Counts a request that was read, and refused before it could claim: no tokens and no slot. */
  readonly countRefused: (accountId: string, plan: Plan) => Promise<void>;
  /** Decides all five limits together. A refusal consumes nothing. */
  readonly claim: (request: ClaimRequest) => Awaitable<ClaimResult>;
  /** The request window of count_tokens, which is apart from generation's. Seconds when refused. */
  readonly claimCount: (accountId: string, plan: Plan) => Awaitable<number | undefined>;
  readonly usage: (accountId: string, plan: Plan) => Awaitable<LimitUsage>;
  /** Every claim that has not ended, for the audit; one whose request is long gone, for once. */
  readonly claims: () => OpenClaimRecord[];
};

/** `startedAt` is when the request did, in Unix milliseconds. */
export type OpenClaimRecord = Pick<ClaimRequest, 'requestId' | 'accountId' | 'startedAt'>;

/** A request that was admitted before this process began; it counts from when it started. */
export type PastAdmission = {
  readonly accountId: string;
  readonly model: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** What it was charged when it started. */
  readonly tokens: number;
};

/** What the books know of requests, so that a restart opens neither windows nor caps. */
export type AdmissionHistory = {
  /**
   * What started at or after an instant, newest first. Asked once, when the limits begin, and for
   * one account where a Redis has forgotten it; others' may be among the answer.
   */
  readonly admittedSince: (
    sinceMs: number,
    accountId?: string,
  ) => Awaitable<readonly PastAdmission[]>;
  /** Names the present state of the books. */
  readonly mark: () => Awaitable<number>;
  /** Tokens of the requests that started within a span, as the books had them at a mark. */
  readonly usedBefore: (accountId: string, span: Span, mark: number) => Awaitable<number>;
};

export type LimitsDependencies = {
  /** Unix milliseconds, however they jump: for days and months alone. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps: for minutes and leases. */
  readonly monotonic: () => number;
  /** Whether somebody is left who will end the claim of this request. */
  readonly isLive: (requestId: string) => boolean;
  readonly history: AdmissionHistory;
};
