// The interface of the limits: plain data and functions, the same for every implementation. Each
// implementation has to pass the suite in test/limits/contract.ts.

import type { Awaitable } from '../async/awaitable.ts';
import type { LimitCode } from '../core/admit.ts';
import type { Span } from '../core/calendar.ts';
import type { Tokens } from '../core/money.ts';
import type { IncidentLimits, LimitView, Plan } from '../core/plan.ts';

export type ClaimRequest = {
  readonly requestId: string;
  /** When the request started, in Unix milliseconds. It always belongs to that day and month. */
  readonly startedAt: number;
  readonly accountId: string;
  /** The slug of the requested model. */
  readonly model: string;
  readonly plan: Plan;
  /** The model's own limits during an incident. */
  readonly incident: IncidentLimits | undefined;
  readonly promptTokens: Tokens;
  readonly outputBound: Tokens;
  /** Nodes that decide by themselves, each by its share of the limits; absent: one. */
  readonly nodes?: number;
};

/** What a request was granted. Ended once, by `settle` or `cancel`; later calls have no effect. */
export type Claim = {
  /** The remaining limits, this request included. */
  readonly view: LimitView;
  /** The request's bound, lowered to what its daily and monthly caps leave beside the prompt. */
  readonly outputBound: Tokens;
  /** Frees the slot early: the client disconnected, and its upstream is drained. */
  readonly freeSlot: () => void;
  /** Ends the claim: frees the slot and corrects the caps to the tokens actually used. */
  readonly settle: (usedTokens: number) => void;
  /**
   * Undoes the claim because a later stage refuses, and returns the remaining limits. With
   * `request` it still counts as a request. Never rejects.
   */
  readonly cancel: (keeps?: 'request') => Awaitable<LimitView>;
};

export type Refusal = {
  readonly kind: 'refused';
  readonly code: LimitCode;
  /** Set if the code alone does not explain enough. */
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

/** What the plan leaves to a request that was not read yet; its model may leave less. */
export type AccountLeft = LimitView & { readonly freeSlots: number };

/** Returns a promise only if the ledger or other nodes have to be consulted. */
export type AccountLimits = {
  /** The remaining limits of the plan before a request is read. Consumes nothing. */
  readonly left: (accountId: string, plan: Plan) => Awaitable<AccountLeft>;
  /** Counts a request that was read and refused before it could claim: no tokens and no slot. */
  readonly countRefused: (accountId: string, plan: Plan) => Promise<void>;
  /** Decides all five limits together. A refusal consumes nothing. */
  readonly claim: (request: ClaimRequest) => Awaitable<ClaimResult>;
  /**
   * The request window of count_tokens, separate from generation's. Returns the seconds to wait if
   * refused.
   */
  readonly claimCount: (accountId: string, plan: Plan) => Awaitable<number | undefined>;
  readonly usage: (accountId: string, plan: Plan) => Awaitable<LimitUsage>;
  /** Every open claim, for the audit. Includes a claim whose request is gone exactly once. */
  readonly claims: () => OpenClaimRecord[];
};

/** `startedAt` is when the request started, in Unix milliseconds. */
export type OpenClaimRecord = Pick<ClaimRequest, 'requestId' | 'accountId' | 'startedAt'>;

/** A request admitted before this process started; it counts from its own start. */
export type PastAdmission = {
  readonly accountId: string;
  readonly model: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The tokens charged to the limits at its start. */
  readonly tokens: number;
};

/** The ledger's view of past requests, so that a restart resets neither windows nor caps. */
export type AdmissionHistory = {
  /**
   * Requests that started at or after an instant, newest first. Read once at the start, and for one
   * account after Redis has lost it; the result may include other accounts.
   */
  readonly admittedSince: (
    sinceMs: number,
    accountId?: string,
  ) => Awaitable<readonly PastAdmission[]>;
  /** Identifies the current state of the ledger. */
  readonly mark: () => Awaitable<number>;
  /** Tokens of the requests that started within a span, as of a mark of the ledger. */
  readonly usedBefore: (accountId: string, span: Span, mark: number) => Awaitable<number>;
};

export type LimitsDependencies = {
  /** Unix milliseconds, for days and months only, since the clock may jump. */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock, for minutes and leases. */
  readonly monotonic: () => number;
  /** Whether this process still runs the request and will end its claim. */
  readonly isLive: (requestId: string) => boolean;
  readonly history: AdmissionHistory;
};
