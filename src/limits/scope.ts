// Whether the limits refuse a request, how long it then has to wait, and what is left: arithmetic over
// what an account has used of its plan and of one model. Pure; called by each implementation of the
// limits, which differ in where they count.

import { CONCURRENCY_RETRY_SECONDS, type LimitCode, refusedByLimits } from '../core/admit.ts';
import { secondsToUtcMidnight } from '../core/calendar.ts';
import { effectiveLimits, type IncidentLimits, type LimitView, type Plan } from '../core/plan.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import { resetSeconds, type Window } from '../core/window.ts';
import type { ClaimRequest, Refusal } from './contract.ts';

/** What is used of a plan or of a model, and the limits that hold there; a model may have none. */
export type Scope = {
  readonly window: Window;
  readonly slotsUsed: number;
  readonly limits: IncidentLimits;
};

/** What counts against a request: its scopes, and the tokens of its day and month. */
export type Used = {
  readonly scopes: readonly Scope[];
  readonly dayTokens: number;
  readonly monthTokens: number;
};

/** `nowMs` is of the clock of the windows, `timeMs` of that of days and months. */
export type Times = { readonly nowMs: number; readonly timeMs: number };

/** What a request takes of the token window and of the caps (specification, limits, rule 2). */
export function tokensOf({ promptTokens, outputBound }: ClaimRequest): number {
  return promptTokens + Math.min(outputBound, SLICE_TOKENS);
}

/** Which limit refuses a request, if any; the tightest scope counts, limit by limit. */
export function refusedCode(
  request: ClaimRequest,
  { scopes, dayTokens, monthTokens }: Used,
): LimitCode | undefined {
  const { dailyTokens = Infinity, monthlyTokens = Infinity } = request.plan;
  return refusedByLimits({
    freeSlots: Math.min(...scopes.map(freeSlots)),
    freeRequests: Math.min(...scopes.map(freeRequests)),
    freeTokens: Math.min(...scopes.map(freeTokens)),
    freeDayTokens: dailyTokens - dayTokens,
    freeMonthTokens: monthlyTokens - monthTokens,
    tokens: tokensOf(request),
  });
}

/** What a request is told that a limit refuses. */
export function refusalOf(
  code: LimitCode,
  request: ClaimRequest,
  scopes: readonly Scope[],
  times: Times,
): Refusal {
  // What refused may have room by now; then no scope is left that has to be waited for.
  const retryAfterSeconds = Math.max(1, waitSeconds(code, request, scopes, times));
  return { kind: 'refused', code, retryAfterSeconds, view: viewOf(request, scopes, times.nowMs) };
}

/** What is left of the lower of plan and model. */
export function viewOf(
  { plan, incident }: Pick<ClaimRequest, 'plan' | 'incident'>,
  scopes: readonly Scope[],
  nowMs: number,
): LimitView {
  const { requestsPerMinute, tokensPerMinute } = effectiveLimits(plan, incident);
  const remainingRequests = Math.max(0, Math.min(...scopes.map(freeRequests)));
  return {
    limitRequests: requestsPerMinute,
    remainingRequests,
    limitTokens: tokensPerMinute,
    remainingTokens: Math.max(0, Math.min(...scopes.map(freeTokens))),
    // Of the scope that these remaining requests are those of.
    resetRequestsSeconds: longestReset(
      scopes.filter((scope) => freeRequests(scope) <= remainingRequests),
      nowMs,
    ),
  };
}

/** What is left of the plan alone. */
export function planView(plan: Plan, window: Window, nowMs: number): LimitView {
  const scope = { window, slotsUsed: 0, limits: plan };
  return viewOf({ plan, incident: undefined }, [scope], nowMs);
}

/** The wait until what refuses has room again (specification, limits, rule 4). */
function waitSeconds(
  code: LimitCode,
  request: ClaimRequest,
  scopes: readonly Scope[],
  { nowMs, timeMs }: Times,
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
        scopes.filter((scope) => freeTokens(scope) < tokensOf(request)),
        nowMs,
      );
    case 'daily_limit_exceeded':
    case 'monthly_limit_exceeded':
      return secondsToUtcMidnight(request.startedAt, timeMs);
  }
}

function freeSlots({ slotsUsed, limits }: Scope): number {
  return (limits.concurrentRequests ?? Infinity) - slotsUsed;
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
