// Whether the limits refuse a request, how long it then has to wait, and what is left: arithmetic over
// what an account has used of its plan and of one model. Pure; called by each implementation of the
// limits, which differ in where they count.

import {
  CONCURRENCY_RETRY_SECONDS,
  type LimitCode,
  type LimitRefusal,
  refusedByLimits,
} from '../core/admit.ts';
import { secondsToUtcMidnight } from '../core/calendar.ts';
import { tokenCount } from '../core/money.ts';
import { effectiveLimits, type IncidentLimits, type LimitView, type Plan } from '../core/plan.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import { type RateWindow, resetSeconds } from '../core/window.ts';
import type { ClaimRequest, Refusal } from './contract.ts';

/** What is used of a plan or of a model, and the limits that hold there; a model may have none. */
export type Scope = {
  readonly window: RateWindow;
  readonly slotsUsed: number;
  readonly limits: IncidentLimits;
};

/** What counts towards a cap: all of it, and what of that requests in flight have reserved. */
export type CapUse = { readonly tokens: number; readonly reserved: number };

export const UNUSED: CapUse = { tokens: 0, reserved: 0 };

/** What counts against a request: its scopes, and the tokens of its day and month. */
type Used = {
  readonly scopes: readonly Scope[];
  readonly day: CapUse;
  readonly month: CapUse;
};

/** `nowMs` is of the clock of the windows, `timeMs` of that of days and months. */
export type Times = { readonly nowMs: number; readonly timeMs: number };

/** What a request takes of the token window and of the caps: the most that it may use. */
export function tokensOf({ promptTokens, outputBound }: ClaimRequest): number {
  return promptTokens + Math.min(outputBound, SLICE_TOKENS);
}

/** The request, its output bound lowered to its day and month, and the limit that refuses it. */
export type Decided = { readonly request: ClaimRequest } & (
  | { readonly kind: 'fits' }
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal; readonly rest: number }
);

/** The tightest scope counts, limit by limit. An output bound is lowered to what the caps leave. */
export function decide(request: ClaimRequest, { scopes, day, month }: Used): Decided {
  const { dailyTokens = Infinity, monthlyTokens = Infinity } = request.plan;
  const { promptTokens, outputBound } = request;
  const restOfDay = dailyTokens - day.tokens + day.reserved;
  const restOfMonth = monthlyTokens - month.tokens + month.reserved;
  const rest = Math.min(restOfDay, restOfMonth);
  const most = tokenCount(Math.max(0, rest - promptTokens));
  const fitted = most < outputBound ? { ...request, outputBound: most } : request;
  const refusal = refusedByLimits({
    freeSlots: least(scopes, freeSlots),
    freeRequests: least(scopes, freeRequests),
    freeTokens: least(scopes, freeTokens),
    restOfDay,
    restOfMonth,
    least: Math.max(1, promptTokens + Math.min(1, outputBound)),
    freeCapTokens: Math.min(dailyTokens - day.tokens, monthlyTokens - month.tokens),
    tokens: tokensOf(fitted),
  });
  if (refusal === undefined) return { kind: 'fits', request: fitted };
  return { kind: 'refused', request: fitted, refusal, rest };
}

/** What a request is told that a limit refuses. */
export function refusalOf(
  { request, refusal, rest }: Omit<Extract<Decided, { kind: 'refused' }>, 'kind'>,
  scopes: readonly Scope[],
  times: Times,
): Refusal {
  const { code } = refusal;
  // What refused may have room by now; then no scope is left that has to be waited for.
  const retryAfterSeconds = Math.max(1, waitSeconds(code, request, scopes, times));
  const message = capMessage(refusal, request, rest);
  return {
    kind: 'refused',
    code,
    ...(message === undefined ? {} : { message }),
    retryAfterSeconds,
    view: viewOf(request, scopes, times.nowMs),
  };
}

function capMessage(
  { code, reserved }: LimitRefusal,
  { promptTokens }: ClaimRequest,
  rest: number,
): string | undefined {
  if (reserved) {
    return "Requests in flight have reserved the rest of the plan's daily or monthly tokens. Retry when one of them has ended.";
  }
  if (code !== 'daily_limit_exceeded' && code !== 'monthly_limit_exceeded') return undefined;
  if (rest <= 0) return undefined;
  const [cap, until] =
    code === 'daily_limit_exceeded'
      ? ['daily', 'UTC midnight']
      : ['monthly', 'the first of the next month, UTC'];
  return `The plan's ${cap} token cap leaves ${rest} tokens until ${until}, and the prompt takes ${promptTokens}. Send a shorter prompt, or wait.`;
}

/** What is left of the lower of plan and model. */
export function viewOf(
  { plan, incident }: Pick<ClaimRequest, 'plan' | 'incident'>,
  scopes: readonly Scope[],
  nowMs: number,
): LimitView {
  const { requestsPerMinute, tokensPerMinute } = effectiveLimits(plan, incident);
  const remainingRequests = Math.max(0, least(scopes, freeRequests));
  return {
    limitRequests: requestsPerMinute,
    remainingRequests,
    limitTokens: tokensPerMinute,
    remainingTokens: Math.max(0, least(scopes, freeTokens)),
    // Of the scope that these remaining requests are those of.
    resetRequestsSeconds: longestReset(
      scopes,
      (scope) => freeRequests(scope) <= remainingRequests,
      nowMs,
    ),
  };
}

/** What is left of the plan alone. */
export function planView(plan: Plan, window: RateWindow, nowMs: number): LimitView {
  return {
    limitRequests: plan.requestsPerMinute,
    remainingRequests: Math.max(0, plan.requestsPerMinute - window.requests),
    limitTokens: plan.tokensPerMinute,
    remainingTokens: Math.max(0, plan.tokensPerMinute - window.tokens),
    resetRequestsSeconds: resetSeconds(window, nowMs),
  };
}

/** The wait until what refuses has room again. */
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
      return longestReset(scopes, (scope) => freeRequests(scope) < 1, nowMs);
    case 'tokens_per_minute_exceeded':
      return longestReset(scopes, (scope) => freeTokens(scope) < tokensOf(request), nowMs);
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

function least(scopes: readonly Scope[], free: (scope: Scope) => number): number {
  let least = Infinity;
  for (const scope of scopes) least = Math.min(least, free(scope));
  return least;
}

/** Until the last of the windows resets that are `meant`. */
function longestReset(
  scopes: readonly Scope[],
  meant: (scope: Scope) => boolean,
  nowMs: number,
): number {
  let longest = 0;
  for (const scope of scopes) {
    if (meant(scope)) longest = Math.max(longest, resetSeconds(scope.window, nowMs));
  }
  return longest;
}
