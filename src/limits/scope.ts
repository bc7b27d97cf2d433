// What is left of a set of limits, and how long a refusal has to wait: arithmetic over what an
// account has used of its plan and of one model. Only limits.ts, which decides, calls this.

import type { LimitCode } from '../core/admit.ts';
import type { IncidentLimits, Limits, LimitView } from '../core/plan.ts';
import { resetSeconds, type Window } from '../core/window.ts';

/** The typical wait for a slot (specification, limits, rule 4). */
const CONCURRENCY_RETRY_SECONDS = 2;

/** What is used of a plan or of a model, and the limits that hold there; a model may have none. */
export type Scope = {
  readonly window: Window;
  readonly slotsUsed: number;
  readonly limits: IncidentLimits;
};

type Remainders = {
  readonly freeSlots: number;
  readonly freeRequests: number;
  readonly freeTokens: number;
};

/** What is left of the tightest scope, limit by limit; below zero where a limit was lowered. */
export function remainders(scopes: readonly Scope[]): Remainders {
  return {
    freeSlots: Math.min(
      ...scopes.map(({ slotsUsed, limits }) => (limits.concurrentRequests ?? Infinity) - slotsUsed),
    ),
    freeRequests: Math.min(...scopes.map(freeRequests)),
    freeTokens: Math.min(...scopes.map(freeTokens)),
  };
}

/** `limits` are the effective ones, the lower of plan and model. */
export function viewOf(scopes: readonly Scope[], limits: Limits, nowMs: number): LimitView {
  const free = remainders(scopes);
  const remainingRequests = Math.max(0, free.freeRequests);
  return {
    limitRequests: limits.requestsPerMinute,
    remainingRequests,
    limitTokens: limits.tokensPerMinute,
    remainingTokens: Math.max(0, free.freeTokens),
    // Of the scope that these remaining requests are those of.
    resetRequestsSeconds: longestReset(
      scopes.filter((scope) => freeRequests(scope) <= remainingRequests),
      nowMs,
    ),
  };
}

/**
 * The wait until what refuses has room again (specification, limits, rule 4). `nowMs` is of the
 * clock of the windows; a cap waits for `midnightSeconds`.
 */
export function retryAfter(
  code: LimitCode,
  scopes: readonly Scope[],
  tokens: number,
  { nowMs, midnightSeconds }: { readonly nowMs: number; readonly midnightSeconds: number },
): number {
  switch (code) {
    case 'concurrency_limit_exceeded':
      return CONCURRENCY_RETRY_SECONDS;
    case 'rate_limit_exceeded':
      return longestReset(
        scopes.filter((scope) => freeRequests(scope) < 1),
        nowMs,
      );
    case 'tokens_per_minute_exceeded':
      return longestReset(
        scopes.filter((scope) => freeTokens(scope) < tokens),
        nowMs,
      );
    case 'daily_limit_exceeded':
    case 'monthly_limit_exceeded':
      return midnightSeconds;
  }
}

function freeRequests({ window, limits }: Scope): number {
  return (limits.requestsPerMinute ?? Infinity) - window.requests;
}

function freeTokens({ window, limits }: Scope): number {
  return (limits.tokensPerMinute ?? Infinity) - window.tokens;
}

function longestReset(scopes: readonly Scope[], nowMs: number): number {
  return Math.max(...scopes.map(({ window }) => resetSeconds(window, nowMs)));
}
