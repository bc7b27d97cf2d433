// Computes what a request takes from an account's counters and what is left: translates between the
// contract and the counters. Pure; leased.ts calls it.

import { isoTime, utcDay, utcMonth } from '../../core/calendar.ts';
import type { LimitView, Plan } from '../../core/plan.ts';
import { type RateWindow, resetSeconds } from '../../core/window.ts';
import type { AccountLeft, ClaimRequest, LimitUsage, Refusal } from '../contract.ts';
import {
  type CapUse,
  type Decided,
  decide,
  leftOf,
  refusalOf,
  type Scopes,
  type Times,
  tokensOf,
  UNUSED,
  viewOf,
} from '../scope.ts';
import type { LeaseRequest, PeriodAskedFor } from './call.ts';
import {
  type Counters,
  isBelieved,
  modelName,
  type Need,
  periodOf,
  reservedOf,
  slotsOf,
  slotsUsed,
  windowOf,
} from './counters.ts';
import { UNLIMITED } from './script.ts';

export type Wanted = LeaseRequest & { readonly need: Need };

export function wantedBy(request: ClaimRequest): Wanted {
  const { plan, incident = {}, model, startedAt } = request;
  const name = modelName(model);
  const [day, month] = periodsAt(startedAt, plan);
  return {
    plan,
    periods: [day, month],
    need: {
      take: [1, tokensOf(request)],
      windows: [
        { name: 'plan', limit: [plan.requestsPerMinute, plan.tokensPerMinute] },
        {
          name,
          limit: [incident.requestsPerMinute ?? UNLIMITED, incident.tokensPerMinute ?? UNLIMITED],
        },
      ],
      slots: [
        { name: 'all', limit: plan.concurrentRequests },
        { name, limit: incident.concurrentRequests ?? UNLIMITED },
      ],
      periods: [
        { name: day.name, limit: plan.dailyTokens ?? UNLIMITED },
        { name: month.name, limit: plan.monthlyTokens ?? UNLIMITED },
      ],
    },
  };
}

/** The request window of count_tokens. */
export function wantedByCount(plan: Plan): Wanted {
  const windows = [{ name: 'counts', limit: [plan.requestsPerMinute, UNLIMITED] }] as const;
  return { plan, periods: [], need: { take: [1, 0], windows, slots: [], periods: [] } };
}

/** Takes nothing, to read the usage of all holders. */
export function wantedByUsage(plan: Plan, timeMs: number): Wanted {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests, dailyTokens, monthlyTokens } =
    plan;
  const [day, month] = periodsAt(timeMs, plan, true);
  return {
    plan,
    periods: [day, month],
    need: {
      take: [0, 0],
      windows: [{ name: 'plan', limit: [requestsPerMinute, tokensPerMinute] }],
      slots: [{ name: 'all', limit: concurrentRequests }],
      periods: [
        { name: day.name, limit: dailyTokens ?? UNLIMITED },
        { name: month.name, limit: monthlyTokens ?? UNLIMITED },
      ],
    },
  };
}

/** The day and the month of an instant. For a capped one, the ledger's part is needed too. */
function periodsAt(
  timeMs: number,
  plan: Plan,
  counts = false,
): readonly [day: PeriodAskedFor, month: PeriodAskedFor] {
  const [day, month] = [utcDay(timeMs), utcMonth(timeMs)];
  return [
    {
      name: isoTime(day.fromMs).slice(0, 10),
      span: day,
      counts: counts || plan.dailyTokens !== undefined,
    },
    {
      name: isoTime(month.fromMs).slice(0, 7),
      span: month,
      counts: counts || plan.monthlyTokens !== undefined,
    },
  ];
}

/** Lowers the request to its caps or refuses it, based on the known state of all holders. */
export function decideAt(counters: Counters, request: ClaimRequest): Decided {
  const { plan, startedAt } = request;
  const [day, month] = periodsAt(startedAt, plan);
  return decide(request, {
    ...scopesOf(counters, request),
    day: plan.dailyTokens === undefined ? UNUSED : useOf(counters, day.name),
    month: plan.monthlyTokens === undefined ? UNUSED : useOf(counters, month.name),
  });
}

/** The refusal of a request, if any. */
export function refusalAt(
  counters: Counters,
  request: ClaimRequest,
  times: Times,
): Refusal | undefined {
  const decided = decideAt(counters, request);
  if (decided.kind === 'fits') return undefined;
  return refusalOf(decided, scopesOf(counters, request), times);
}

function useOf(counters: Counters, name: string): CapUse {
  const { reserved } = periodOf(counters, name);
  return { tokens: usedIn(counters, name), reserved: reserved + reservedOf(counters, name) };
}

/**
 * The same, if Redis need not be asked again. Slots and reserved caps always require it, because
 * they are returned at any time; windows and usage rarely shrink.
 */
export function believedRefusal(
  counters: Counters,
  request: ClaimRequest,
  times: Times,
): Refusal | undefined {
  if (!isBelieved(counters, times.nowMs)) return undefined;
  const refusal = refusalAt(counters, request, times);
  return refusal?.code === 'concurrency_limit_exceeded' ? undefined : refusal;
}

/** Whether a refused request would fit if other holders returned all unused permits. */
export function mayBeSpared(counters: Counters, { need }: Wanted): boolean {
  const [count, tokens] = need.take;
  return (
    need.windows.every(({ name, limit }) => {
      const { others, spare, ...own } = windowOf(counters, name);
      return (
        fits(limit[0], own.count + others[0] - spare[0] + count) &&
        fits(limit[1], own.tokens + others[1] - spare[1] + tokens)
      );
    }) &&
    need.slots.every(({ name, limit }) =>
      fits(limit, slotsAt(counters, name) - slotsOf(counters, name).spare + count),
    ) &&
    need.periods.every(({ name, limit }) =>
      fits(limit, usedIn(counters, name) - periodOf(counters, name).spare + tokens),
    )
  );
}

function fits(limit: number, used: number): boolean {
  return limit === UNLIMITED || used <= limit;
}

/** The remaining limits in the cluster, as far as this holder knows. */
export function viewAt(counters: Counters, request: ClaimRequest, nowMs: number): LimitView {
  return viewOf(request, scopesOf(counters, request), nowMs);
}

/** Takes one request and nothing else. */
export function needOfRefused({ requestsPerMinute, tokensPerMinute }: Plan): Need {
  const limit = [requestsPerMinute, tokensPerMinute] as const;
  return { take: [1, 0], windows: [{ name: 'plan', limit }], slots: [], periods: [] };
}

/** What the plan leaves, counting possibly unused permits of other holders as free. */
export function leftAt(counters: Counters, plan: Plan, nowMs: number): AccountLeft {
  const slotsUsed = slotsAt(counters, 'all') - slotsOf(counters, 'all').spare;
  const left = leftOf(plan, { window: windowAt(counters, 'plan'), slotsUsed }, nowMs);
  const [spare] = windowOf(counters, 'plan').spare;
  return { ...left, remainingRequests: left.remainingRequests + spare };
}

/** Seconds until the window of count_tokens resets, if it is full. */
export function countRefusal(counters: Counters, plan: Plan, nowMs: number): number | undefined {
  const window = windowAt(counters, 'counts');
  return window.requests >= plan.requestsPerMinute ? resetSeconds(window, nowMs) : undefined;
}

/** The usage of all holders, with the day and the month of `timeMs`. */
export function usageAt(
  counters: Counters,
  plan: Plan,
  { nowMs, timeMs }: { readonly nowMs: number; readonly timeMs: number },
): LimitUsage {
  const [day, month] = periodsAt(timeMs, plan);
  const window = windowAt(counters, 'plan');
  return {
    requestsUsed: window.requests,
    tokensUsed: window.tokens,
    resetSeconds: resetSeconds(window, nowMs),
    inFlight: slotsAt(counters, 'all'),
    dayTokens: usedIn(counters, day.name),
    monthTokens: usedIn(counters, month.name),
  };
}

function scopesOf(counters: Counters, { model }: ClaimRequest): Scopes {
  const name = modelName(model);
  return {
    ofPlan: { window: windowAt(counters, 'plan'), slotsUsed: slotsAt(counters, 'all') },
    ofModel: { window: windowAt(counters, name), slotsUsed: slotsAt(counters, name) },
  };
}

function windowAt(counters: Counters, name: string): RateWindow {
  const { startedAtMs, count, tokens, others } = windowOf(counters, name);
  const requests = count + others[0];
  return {
    startedAt: requests === 0 ? undefined : startedAtMs,
    requests,
    tokens: tokens + others[1],
  };
}

function slotsAt(counters: Counters, name: string): number {
  return slotsUsed(counters, name) + slotsOf(counters, name).others;
}

function usedIn(counters: Counters, name: string): number {
  const { before = 0, used, others } = periodOf(counters, name);
  return before + used + others;
}
