// Decides whether the limits refuse a request, computes its wait, and what is left, from an
// account's usage of its plan and of one model. Pure; shared by all implementations of the limits,
// which differ in where they count.

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
import type { AccountLeft, ClaimRequest, Refusal } from './contract.ts';

/** Usage of a plan or of a model. */
export type InUse = { readonly window: RateWindow; readonly slotsUsed: number };

/**
 * Tokens counted towards a cap, the part that requests in flight have reserved, and the part that all
 * nodes had used before this one counted.
 */
export type CapUse = {
  readonly tokens: number;
  readonly reserved: number;
  readonly before?: number | undefined;
};

export const UNUSED: CapUse = { tokens: 0, reserved: 0 };

/**
 * The scopes in which a request counts: its plan, and its model, which has limits during incidents.
 */
export type Scopes = { readonly ofPlan: InUse; readonly ofModel: InUse };

/** With the tokens of its day and month. */
type Used = Scopes & { readonly day: CapUse; readonly month: CapUse };

/** The limits that apply to a request. */
type Limited = Pick<ClaimRequest, 'plan' | 'incident' | 'nodes'>;

/** `nowMs` is on the clock of the windows, `timeMs` on the one of days and months. */
export type Times = { readonly nowMs: number; readonly timeMs: number };

/** What a request takes from the token window and the caps: the most that it may use. */
export function tokensOf({ promptTokens, outputBound }: ClaimRequest): number {
  return promptTokens + Math.min(outputBound, SLICE_TOKENS);
}

/** The request with its output bound lowered to its caps, and its refusal, if any. */
export type Decided = { readonly request: ClaimRequest } & (
  | { readonly kind: 'fits' }
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal; readonly rest: number }
);

/** Applies the tightest scope to each limit, and lowers the output bound to what the caps leave. */
export function decide(request: ClaimRequest, used: Used): Decided {
  const { day, month } = used;
  const { plan, promptTokens, outputBound, nodes = 1 } = request;
  const dailyTokens = capOf(plan.dailyTokens, day, nodes);
  const monthlyTokens = capOf(plan.monthlyTokens, month, nodes);
  const restOfDay = dailyTokens - day.tokens + day.reserved;
  const restOfMonth = monthlyTokens - month.tokens + month.reserved;
  const rest = Math.min(restOfDay, restOfMonth);
  const most = tokenCount(Math.max(0, rest - promptTokens));
  const own = ownLimits(request);
  const fitted = most < outputBound ? { ...request, outputBound: most } : request;
  const refusal = refusedByLimits({
    freeSlots: freeSlots(own, used),
    freeRequests: freeRequests(own, used),
    freeTokens: freeTokens(own, used),
    restOfDay,
    restOfMonth,
    least: Math.max(1, promptTokens + Math.min(1, outputBound)),
    freeCapTokens: Math.min(dailyTokens - day.tokens, monthlyTokens - month.tokens),
    tokens: tokensOf(fitted),
  });
  if (refusal === undefined) return { kind: 'fits', request: fitted };
  return { kind: 'refused', request: fitted, refusal, rest };
}

/** What this node may let the account use: all that was used before, and its share of the rest. */
function capOf(cap = Infinity, { before = 0 }: Used['day'], nodes: number): number {
  return nodes === 1 || cap <= before ? cap : before + Math.floor((cap - before) / nodes);
}

/**
 * A node's share of a plan while it decides by itself: limit ÷ nodes, at least 1. Without the caps,
 * which count the use of all nodes: each node has its share of what is left of them.
 */
export function planShare(plan: Plan, nodes: number): Plan {
  return { ...plan, ...limitsShare(plan, nodes) };
}

function limitsShare<Shared extends IncidentLimits>(limits: Shared, nodes: number): Shared {
  const shareOf = (limit = Infinity): number => Math.max(1, Math.floor(limit / Math.max(1, nodes)));
  return {
    ...limits,
    requestsPerMinute: shareOf(limits.requestsPerMinute),
    tokensPerMinute: shareOf(limits.tokensPerMinute),
    concurrentRequests: shareOf(limits.concurrentRequests),
  };
}

/** The limits by which this node decides. Views report the whole ones. */
function ownLimits(limited: Limited): Limited {
  const { plan, incident, nodes = 1 } = limited;
  if (nodes <= 1) return limited;
  return { plan: planShare(plan, nodes), incident: incident && limitsShare(incident, nodes) };
}

/** The refusal of a limit for the caller. */
export function refusalOf(
  { request, refusal, rest }: Omit<Extract<Decided, { kind: 'refused' }>, 'kind'>,
  scopes: Scopes,
  times: Times,
): Refusal {
  const { code } = refusal;
  // The limit may have room by now; then there is no wait.
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

/** The remaining limits: the lower of plan and model. */
export function viewOf(request: Limited, scopes: Scopes, nowMs: number): LimitView {
  const { requestsPerMinute, tokensPerMinute } = effectiveLimits(request.plan, request.incident);
  const own = ownLimits(request);
  const remainingRequests = Math.max(0, freeRequests(own, scopes));
  return {
    limitRequests: requestsPerMinute,
    remainingRequests,
    limitTokens: tokensPerMinute,
    remainingTokens: Math.max(0, freeTokens(own, scopes)),
    resetRequestsSeconds: requestsReset(own, scopes, remainingRequests, nowMs),
  };
}

/** What the plan alone leaves. */
export function leftOf(plan: Plan, { window, slotsUsed }: InUse, nowMs: number): AccountLeft {
  return {
    limitRequests: plan.requestsPerMinute,
    remainingRequests: Math.max(0, plan.requestsPerMinute - window.requests),
    limitTokens: plan.tokensPerMinute,
    remainingTokens: Math.max(0, plan.tokensPerMinute - window.tokens),
    resetRequestsSeconds: resetSeconds(window, nowMs),
    freeSlots: Math.max(0, plan.concurrentRequests - slotsUsed),
  };
}

/** The wait until the refusing limit has room again. */
function waitSeconds(
  code: LimitCode,
  request: ClaimRequest,
  scopes: Scopes,
  { nowMs, timeMs }: Times,
): number {
  switch (code) {
    case 'concurrency_limit_exceeded':
      return CONCURRENCY_RETRY_SECONDS;
    case 'rate_limit_exceeded':
      return requestsReset(ownLimits(request), scopes, 0, nowMs);
    case 'tokens_per_minute_exceeded':
      return tokensReset(request, scopes, nowMs);
    case 'daily_limit_exceeded':
    case 'monthly_limit_exceeded':
      return secondsToUtcMidnight(request.startedAt, timeMs);
  }
}

function freeSlots({ plan, incident }: Limited, { ofPlan, ofModel }: Scopes): number {
  return Math.min(
    plan.concurrentRequests - ofPlan.slotsUsed,
    (incident?.concurrentRequests ?? Infinity) - ofModel.slotsUsed,
  );
}

function freeRequests({ plan, incident }: Limited, { ofPlan, ofModel }: Scopes): number {
  return Math.min(
    plan.requestsPerMinute - ofPlan.window.requests,
    (incident?.requestsPerMinute ?? Infinity) - ofModel.window.requests,
  );
}

function freeTokens({ plan, incident }: Limited, { ofPlan, ofModel }: Scopes): number {
  return Math.min(
    plan.tokensPerMinute - ofPlan.window.tokens,
    (incident?.tokensPerMinute ?? Infinity) - ofModel.window.tokens,
  );
}

/** Until the last window resets that has at most `remaining` requests left. */
function requestsReset(
  { plan, incident }: Limited,
  { ofPlan, ofModel }: Scopes,
  remaining: number,
  nowMs: number,
): number {
  const ofModelLeft = (incident?.requestsPerMinute ?? Infinity) - ofModel.window.requests;
  const isPlan = plan.requestsPerMinute - ofPlan.window.requests <= remaining;
  return Math.max(
    isPlan ? resetSeconds(ofPlan.window, nowMs) : 0,
    ofModelLeft <= remaining ? resetSeconds(ofModel.window, nowMs) : 0,
  );
}

/** Until the last window resets that has no room for the tokens of a request. */
function tokensReset(request: ClaimRequest, { ofPlan, ofModel }: Scopes, nowMs: number): number {
  const { plan, incident } = ownLimits(request);
  const wanted = tokensOf(request);
  const ofModelLeft = (incident?.tokensPerMinute ?? Infinity) - ofModel.window.tokens;
  const isPlan = plan.tokensPerMinute - ofPlan.window.tokens < wanted;
  return Math.max(
    isPlan ? resetSeconds(ofPlan.window, nowMs) : 0,
    ofModelLeft < wanted ? resetSeconds(ofModel.window, nowMs) : 0,
  );
}
