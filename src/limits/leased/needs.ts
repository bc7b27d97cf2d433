// Computes what a request takes from an account's counters and what is left: translates between the
// contract and the counters. Pure; leased.ts calls it.

import { isoTime, type Span, utcDay, utcMonth } from '../../core/calendar.ts';
import type { IncidentLimits, LimitView, Plan } from '../../core/plan.ts';
import { type RateWindow, resetSeconds } from '../../core/window.ts';
import type { AccountLeft, ClaimRequest, LimitUsage, Refusal } from '../contract.ts';
import {
  type CapUse,
  type Decided,
  decide,
  type InUse,
  leftOf,
  refusalOf,
  type Scopes,
  type Times,
  tokensOf,
  UNUSED,
  viewOf,
} from '../scope.ts';
import {
  type Counter,
  type CounterLimit,
  type Counters,
  counterOf,
  modelWindow,
  type Need,
} from './counters.ts';
import type { LeaseRequest } from './exchange.ts';
import { UNLIMITED } from './script.ts';

/** All slots of an account. */
const SLOTS = { name: 'slots', kind: 'slots' } as const;

/** The plan's window, and the one of count_tokens. */
const PLAN_WINDOW = { name: 'plan', kind: 'window' } as const;
const COUNT_WINDOW = { name: 'counts', kind: 'window' } as const;

const ofModel = (slug: string) =>
  [
    { name: modelWindow(slug), kind: 'window' },
    { name: `slots:${slug}`, kind: 'slots' },
  ] as const;

export function wantedBy(request: ClaimRequest): LeaseRequest {
  const { plan, incident = {}, model, startedAt } = request;
  const [window, slots] = ofModel(model);
  return {
    plan,
    take: [1, tokensOf(request)],
    counters: [
      ...planLimits(plan),
      { ...window, limit: windowLimit(incident) },
      { ...slots, limit: slotsLimit(incident) },
      ...periodsAt(startedAt, plan),
    ],
  };
}

/** The request window of count_tokens. */
export function wantedByCount(plan: Plan): LeaseRequest {
  const limit = [plan.requestsPerMinute, UNLIMITED] as const;
  return { plan, take: [1, 0], counters: [{ ...COUNT_WINDOW, limit }] };
}

/** Takes nothing, to read the usage of all holders. */
export function wantedByUsage(plan: Plan, timeMs: number): LeaseRequest {
  return {
    plan,
    take: [0, 0],
    counters: [
      ...planLimits(plan),
      ...periodsAt(timeMs, plan).map((period) => ({ ...period, counts: true })),
    ],
  };
}

/** One request and nothing else. */
export function needOfRefused(plan: Plan): Need {
  return { take: [1, 0], counters: [{ ...PLAN_WINDOW, limit: windowLimit(plan) }] };
}

function planLimits(plan: Plan): readonly CounterLimit[] {
  return [
    { ...PLAN_WINDOW, limit: windowLimit(plan) },
    { ...SLOTS, limit: slotsLimit(plan) },
  ];
}

function windowLimit({ requestsPerMinute, tokensPerMinute }: IncidentLimits): Counter['limit'] {
  return [requestsPerMinute ?? UNLIMITED, tokensPerMinute ?? UNLIMITED];
}

function slotsLimit({ concurrentRequests }: IncidentLimits): Counter['limit'] {
  return [concurrentRequests ?? UNLIMITED, UNLIMITED];
}

/** The day and the month of an instant. For a capped one, the ledger's part is needed too. */
function periodsAt(
  timeMs: number,
  { dailyTokens, monthlyTokens }: Plan,
): readonly [day: CounterLimit, month: CounterLimit] {
  const periodOf = (name: string, span: Span, cap: number | undefined): CounterLimit => {
    const limit = [UNLIMITED, cap ?? UNLIMITED] as const;
    return { name, kind: 'period', limit, span, counts: cap !== undefined };
  };
  const [day, month] = [utcDay(timeMs), utcMonth(timeMs)];
  return [
    periodOf(isoTime(day.fromMs).slice(0, 10), day, dailyTokens),
    periodOf(isoTime(month.fromMs).slice(0, 7), month, monthlyTokens),
  ];
}

/** Lowers the request to its caps or refuses it, based on the known state of all holders. */
export function decideAt(counters: Counters, request: ClaimRequest): Decided {
  const [day, month] = periodsAt(request.startedAt, request.plan);
  const used = { day: capUse(counters, day), month: capUse(counters, month) };
  return decide(request, { ...scopesOf(counters, request), ...used });
}

function capUse(counters: Counters, period: CounterLimit): CapUse {
  if (period.limit[1] === UNLIMITED) return UNUSED;
  const { reserved, othersReserved } = counterOf(counters, period);
  return { tokens: usedIn(counters, period), reserved: reserved + othersReserved };
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

/** The remaining limits in the cluster, as far as this holder knows. */
export function viewAt(counters: Counters, request: ClaimRequest, nowMs: number): LimitView {
  return viewOf(request, scopesOf(counters, request), nowMs);
}

/** What the plan leaves, counting possibly unused permits of other holders as free. */
export function leftAt(counters: Counters, plan: Plan, nowMs: number): AccountLeft {
  const { window, slotsUsed } = useAt(counters, PLAN_WINDOW, SLOTS);
  const [spareSlots] = counterOf(counters, SLOTS).spare;
  const left = leftOf(plan, { window, slotsUsed: slotsUsed - spareSlots }, nowMs);
  const [spare] = counterOf(counters, PLAN_WINDOW).spare;
  return { ...left, remainingRequests: left.remainingRequests + spare };
}

/** Seconds until the window of count_tokens resets, if it is full. */
export function countRefusal(counters: Counters, plan: Plan, nowMs: number): number | undefined {
  const window = windowAt(counters, COUNT_WINDOW);
  return window.requests >= plan.requestsPerMinute ? resetSeconds(window, nowMs) : undefined;
}

/** The usage of all holders, with the day and the month of `timeMs`. */
export function usageAt(
  counters: Counters,
  plan: Plan,
  { nowMs, timeMs }: { readonly nowMs: number; readonly timeMs: number },
): LimitUsage {
  const [day, month] = periodsAt(timeMs, plan);
  const { window, slotsUsed } = useAt(counters, PLAN_WINDOW, SLOTS);
  return {
    requestsUsed: window.requests,
    tokensUsed: window.tokens,
    resetSeconds: resetSeconds(window, nowMs),
    inFlight: slotsUsed,
    dayTokens: usedIn(counters, day),
    monthTokens: usedIn(counters, month),
  };
}

type Named = Pick<Counter, 'name' | 'kind'>;

function scopesOf(counters: Counters, { model }: ClaimRequest): Scopes {
  return {
    ofPlan: useAt(counters, PLAN_WINDOW, SLOTS),
    ofModel: useAt(counters, ...ofModel(model)),
  };
}

function useAt(counters: Counters, window: Named, slots: Named): InUse {
  const { used, others } = counterOf(counters, slots);
  return { window: windowAt(counters, window), slotsUsed: used[0] + others[0] };
}

function windowAt(counters: Counters, window: Named): RateWindow {
  const { startedAtMs, used, others } = counterOf(counters, window);
  const requests = used[0] + others[0];
  return {
    startedAt: requests === 0 ? undefined : startedAtMs,
    requests,
    tokens: used[1] + others[1],
  };
}

function usedIn(counters: Counters, period: Named): number {
  const { before, used, others } = counterOf(counters, period);
  return Math.max(0, before) + used[1] + others[1];
}
