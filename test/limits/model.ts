// The simplest implementation of the limits: lists of admissions, from which every answer is
// recomputed. It knows no leases: a slot whose request has died may be free or not for a while.

import type { LimitCode } from '../../src/core/admit.ts';
import { tokenCount } from '../../src/core/money.ts';
import type { LimitView, Plan } from '../../src/core/plan.ts';
import type { ClaimRequest, LimitUsage } from '../../src/limits/contract.ts';

/** How long the slot of a request that died may stay taken. */
const SLOT_LOST_MS = 30_000;

const MINUTE_MS = 60_000;

type Admitted = {
  readonly request: ClaimRequest;
  readonly tokens: number;
  /** What counts towards the caps: the estimate, and at the end what was used. */
  used: number;
  slot: 'taken' | 'free' | { readonly lostAt: number };
  ended: boolean;
  lostAt?: number;
};

type Window = { startedAt: number; admitted: Set<{ readonly tokens: number }> };

export type Times = { readonly nowMs: number; readonly timeMs: number };

type Decision = {
  readonly code: LimitCode | undefined;
  readonly wait: number;
  /** As it is lowered to what the caps leave. */
  readonly bound: number;
};

export function createModel() {
  const admitted = new Set<Admitted>();
  const windows = new Map<string, Window>();

  function windowOf(name: string, nowMs: number): Window {
    const window = windows.get(name);
    if (window !== undefined && window.admitted.size > 0 && nowMs - window.startedAt < MINUTE_MS) {
      return window;
    }
    const fresh: Window = { startedAt: nowMs, admitted: new Set() };
    windows.set(name, fresh);
    return fresh;
  }

  const windowNames = ({ accountId, model }: ClaimRequest): readonly [string, string] => [
    accountId,
    `${accountId} ${model}`,
  ];

  const tokensOf = (window: Window): number =>
    [...window.admitted].reduce((sum, { tokens }) => sum + tokens, 0);

  const resetOf = (window: Window, nowMs: number): number =>
    Math.ceil((window.startedAt + MINUTE_MS - nowMs) / 1_000);

  /** Slots in use at least, or with those whose requests have just died. */
  function slots(accountId: string, model: string | undefined, nowMs: number, lost: boolean) {
    return [...admitted].filter(
      ({ request, slot }) =>
        request.accountId === accountId &&
        (model === undefined || request.model === model) &&
        (slot === 'taken' || (lost && slot !== 'free' && nowMs - slot.lostAt < SLOT_LOST_MS)),
    ).length;
  }

  /** `name` is the beginning of an ISO time: a day or a month. */
  function usedWithin(accountId: string, name: string): number {
    return [...admitted]
      .filter(({ request }) => request.accountId === accountId)
      .filter(({ request }) => new Date(request.startedAt).toISOString().startsWith(name))
      .reduce((sum, { used }) => sum + used, 0);
  }

  /** Of that, what requests in flight have reserved; of those that were just lost, or not. */
  function reservedWithin(accountId: string, name: string, nowMs: number, lost: boolean): number {
    return [...admitted]
      .filter(({ request }) => request.accountId === accountId)
      .filter(({ request }) => new Date(request.startedAt).toISOString().startsWith(name))
      .filter(({ lostAt }) => lostAt === undefined || (lost && nowMs - lostAt < SLOT_LOST_MS))
      .filter(({ ended }) => !ended)
      .reduce((sum, { used }) => sum + used, 0);
  }

  const day = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
  const month = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 7);

  const tokensAsked = (request: ClaimRequest): number =>
    request.promptTokens + Math.min(request.outputBound, 4_096);

  function decide(request: ClaimRequest, { nowMs, timeMs }: Times, lost: boolean): Decision {
    const { plan, incident, accountId, model, startedAt } = request;
    const [ofPlan, ofModel] = windowNames(request).map((name) => windowOf(name, nowMs));
    if (ofPlan === undefined || ofModel === undefined) throw new Error('no window');
    const caps = [
      [day(startedAt), plan.dailyTokens ?? Infinity],
      [month(startedAt), plan.monthlyTokens ?? Infinity],
    ] as const;
    const [today = Infinity, thisMonth = Infinity] = caps.map(
      ([name, cap]) =>
        cap - usedWithin(accountId, name) + reservedWithin(accountId, name, nowMs, lost),
    );
    const free = Math.min(...caps.map(([name, cap]) => cap - usedWithin(accountId, name)));
    const rest = Math.min(today, thisMonth) - request.promptTokens;
    const bound = Math.max(0, Math.min(request.outputBound, rest));
    const tokens = tokensAsked({ ...request, outputBound: tokenCount(bound) });
    if (
      slots(accountId, undefined, nowMs, lost) >= plan.concurrentRequests ||
      slots(accountId, model, nowMs, lost) >= (incident?.concurrentRequests ?? Infinity)
    ) {
      return { code: 'concurrency_limit_exceeded', wait: 2, bound };
    }
    const waits = (full: readonly (readonly [Window, boolean])[]): number =>
      Math.max(0, ...full.filter(([, is]) => is).map(([window]) => resetOf(window, nowMs)));
    const requests = waits([
      [ofPlan, ofPlan.admitted.size >= plan.requestsPerMinute],
      [ofModel, ofModel.admitted.size >= (incident?.requestsPerMinute ?? Infinity)],
    ]);
    if (requests > 0) return { code: 'rate_limit_exceeded', wait: requests, bound };
    const minute = waits([
      [ofPlan, tokensOf(ofPlan) + tokens > plan.tokensPerMinute],
      [ofModel, tokensOf(ofModel) + tokens > (incident?.tokensPerMinute ?? Infinity)],
    ]);
    if (minute > 0) return { code: 'tokens_per_minute_exceeded', wait: minute, bound };
    const midnight = Date.parse(`${day(startedAt)}T00:00:00Z`) + 86_400_000;
    const wait = Math.max(1, Math.ceil((midnight - timeMs) / 1_000));
    const least = request.promptTokens + 1;
    if (today < least) return { code: 'daily_limit_exceeded', wait, bound };
    if (thisMonth < least) return { code: 'monthly_limit_exceeded', wait, bound };
    if (free < tokens) return { code: 'concurrency_limit_exceeded', wait: 2, bound };
    return { code: undefined, wait: 0, bound };
  }

  return {
    /** What may be answered: two things only where a slot has just been lost. */
    decisions: (request: ClaimRequest, times: Times): readonly Decision[] => [
      decide(request, times, true),
      decide(request, times, false),
    ],
    admit(request: ClaimRequest, nowMs: number): Admitted {
      const tokens = tokensAsked(request);
      const each: Admitted = { request, tokens, used: tokens, slot: 'taken', ended: false };
      admitted.add(each);
      for (const name of windowNames(request)) windowOf(name, nowMs).admitted.add(each);
      return each;
    },
    settle(each: Admitted, usedTokens: number): void {
      each.used = usedTokens;
      each.slot = 'free';
      each.ended = true;
    },
    cancel(each: Admitted, keeps?: 'request'): void {
      admitted.delete(each);
      for (const window of windows.values()) {
        if (window.admitted.delete(each) && keeps === 'request') window.admitted.add({ tokens: 0 });
      }
    },
    /** A request that was refused before it could claim. */
    refuse(accountId: string, plan: Plan, nowMs: number): void {
      const window = windowOf(accountId, nowMs);
      if (window.admitted.size < plan.requestsPerMinute) window.admitted.add({ tokens: 0 });
    },
    left(accountId: string, plan: Plan, nowMs: number): LimitView {
      const window = windowOf(accountId, nowMs);
      return {
        limitRequests: plan.requestsPerMinute,
        remainingRequests: Math.max(0, plan.requestsPerMinute - window.admitted.size),
        limitTokens: plan.tokensPerMinute,
        remainingTokens: Math.max(0, plan.tokensPerMinute - tokensOf(window)),
        resetRequestsSeconds: resetOf(window, nowMs),
      };
    },
    leave(each: Admitted): void {
      each.slot = 'free';
    },
    lose(each: Admitted, nowMs: number): void {
      each.lostAt ??= nowMs;
      if (each.slot === 'taken') each.slot = { lostAt: nowMs };
    },
    view(request: ClaimRequest, nowMs: number): LimitView {
      const { plan, incident } = request;
      const [ofPlan, ofModel] = windowNames(request).map((name) => windowOf(name, nowMs));
      if (ofPlan === undefined || ofModel === undefined) throw new Error('no window');
      const rest = (limit: number | undefined, used: number): number =>
        Math.max(0, (limit ?? Infinity) - used);
      const left = [
        [rest(plan.requestsPerMinute, ofPlan.admitted.size), resetOf(ofPlan, nowMs)],
        [rest(incident?.requestsPerMinute, ofModel.admitted.size), resetOf(ofModel, nowMs)],
      ] as const;
      const remainingRequests = Math.min(left[0][0], left[1][0]);
      return {
        limitRequests: Math.min(plan.requestsPerMinute, incident?.requestsPerMinute ?? Infinity),
        remainingRequests,
        limitTokens: Math.min(plan.tokensPerMinute, incident?.tokensPerMinute ?? Infinity),
        remainingTokens: Math.min(
          rest(plan.tokensPerMinute, tokensOf(ofPlan)),
          rest(incident?.tokensPerMinute, tokensOf(ofModel)),
        ),
        resetRequestsSeconds: Math.max(
          ...left.filter(([free]) => free === remainingRequests).map(([, reset]) => reset),
        ),
      };
    },
    /** `inFlight` is at least what is said, and at most what `inFlightAtMost` says. */
    usage(accountId: string, { nowMs, timeMs }: Times): LimitUsage & { inFlightAtMost: number } {
      const window = windowOf(accountId, nowMs);
      return {
        requestsUsed: window.admitted.size,
        tokensUsed: tokensOf(window),
        resetSeconds: resetOf(window, nowMs),
        inFlight: slots(accountId, undefined, nowMs, false),
        inFlightAtMost: slots(accountId, undefined, nowMs, true),
        dayTokens: usedWithin(accountId, day(timeMs)),
        monthTokens: usedWithin(accountId, month(timeMs)),
      };
    },
    /** Whether count_tokens is let in, or how long it waits. */
    count(accountId: string, plan: Plan, nowMs: number): number | undefined {
      const window = windowOf(`${accountId} counts`, nowMs);
      if (window.admitted.size >= plan.requestsPerMinute) return resetOf(window, nowMs);
      window.admitted.add({ tokens: 0 });
      return undefined;
    },
  };
}

export type Model = ReturnType<typeof createModel>;
export type ModelClaim = ReturnType<Model['admit']>;
