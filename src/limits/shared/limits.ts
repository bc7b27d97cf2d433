// The limits of one process with several server threads: the same five, decided over memory that all
// of them share. A claim takes what it asks for counter by counter, each with its limit, and gives
// all of it back where one refuses; so nothing is ever above a limit, and no thread waits for another.

import type { LimitCode } from '../../core/admit.ts';
import type { LimitView, Plan } from '../../core/plan.ts';
import { createWindow, resetSeconds } from '../../core/window.ts';
import type {
  AccountLimits,
  Claim,
  ClaimRequest,
  ClaimResult,
  LimitsDependencies,
  LimitUsage,
} from '../contract.ts';
import {
  type CapUse,
  decide,
  planView,
  refusalOf,
  type Scope,
  tokensOf,
  UNUSED,
  viewOf,
} from '../scope.ts';
import { createEntries, type Held } from './entries.ts';
import { COUNT_WINDOW, type Memory, WINDOW } from './memory.ts';
import { createOpenClaims, type OpenClaim } from './open-claims.ts';
import { addToPeriod, markOf, type SharedPeriod, usedIn } from './periods.ts';
import { type Taken, takeAll } from './take.ts';
import { readWindow, takeRequest, ticksOf } from './windows.ts';

export type SharedLimits = AccountLimits & {
  /** Frees the slots of this thread's requests that nobody will end; called every few seconds. */
  readonly sweep: () => void;
};

export type SharedLimitsDependencies = LimitsDependencies & {
  readonly memory: Memory;
  /** The number of this thread, from zero. `monotonic` is one clock for all of them. */
  readonly thread: number;
};

/** Looks at what is left before somebody else is believed to have taken it for good. */
const TRIES = 32;

/** Where every entry that an account could have is in use: the typical wait for a slot. */
const FULL_SECONDS = 2;

export function createSharedLimits(dependencies: SharedLimitsDependencies): SharedLimits {
  const { memory, clock, monotonic, isLive } = dependencies;
  const entries = createEntries(dependencies);
  const claims = createOpenClaims(entries, isLive);

  function scopesOf({ account, model }: Held, request: ClaimRequest, nowTicks: number): Scope[] {
    const window = (entry: number) => readWindow(memory, entry + WINDOW, nowTicks);
    const { plan, incident = {} } = request;
    return [
      { window: window(account), slotsUsed: entries.accounts.slots(account), limits: plan },
      { window: window(model), slotsUsed: entries.models.slots(model), limits: incident },
    ];
  }

  function viewNow(held: Held, request: ClaimRequest, nowTicks: number): LimitView {
    return viewOf(request, scopesOf(held, request, nowTicks), nowTicks);
  }

  /** Undefined where something is missing that has to be learned or made first. */
  function tryClaim(request: ClaimRequest): ClaimResult | undefined {
    const { accountId, model } = request;
    const nowMs = monotonic();
    claims.roll(accountId, nowMs);
    const held = entries.hold(accountId, model);
    if (held === undefined) return undefined;
    const result = decideNow(held, request, nowMs);
    if (result?.kind !== 'claimed') entries.release(held);
    return result;
  }

  function decideNow(held: Held, request: ClaimRequest, nowMs: number): ClaimResult | undefined {
    const { plan, startedAt } = request;
    const periods = entries.periods(held.account, startedAt, plan);
    if (periods === undefined) return undefined;
    const nowTicks = ticksOf(nowMs);
    let lost: LimitCode | undefined;
    for (let turn = 0; ; turn += 1) {
      const scopes = scopesOf(held, request, nowTicks);
      const decided = decide(request, {
        scopes,
        day: plan.dailyTokens === undefined ? UNUSED : useOf(held, periods[0]),
        month: plan.monthlyTokens === undefined ? UNUSED : useOf(held, periods[1]),
      });
      const times = { nowMs: nowTicks, timeMs: clock() };
      if (decided.kind === 'refused') return refusalOf(decided, scopes, times);
      if (turn >= TRIES && lost !== undefined) {
        return refusalOf({ ...decided, refusal: { code: lost }, rest: 0 }, scopes, times);
      }
      const fitted = decided.request;
      const tokens = tokensOf(fitted);
      const taken = takeAll({ memory, entries, held, request, periods, tokens, nowTicks });
      if (taken.kind === 'taken') return { kind: 'claimed', claim: admit(taken, fitted, nowMs) };
      lost = taken.code;
    }
  }

  /** What is reserved is looked at before and after: a claim that begins or ends meanwhile is in one. */
  function useOf({ account }: Held, period: SharedPeriod): CapUse {
    const before = entries.accounts.reserved(account, period.slot);
    const tokens = usedIn(memory, period);
    return { tokens, reserved: Math.max(before, entries.accounts.reserved(account, period.slot)) };
  }

  function admit(taken: Taken, request: ClaimRequest, nowMs: number): Claim {
    const { held, periods, tokens } = taken;
    const marks = periods.map((period) => markOf(memory, period));
    const open: OpenClaim = claims.add(request, taken, nowMs);
    let ended = false;

    /** Corrects the caps to what was used, and gives back what was never used. */
    function correct(usedTokens: number, giveBack?: () => void): void {
      periods.forEach((period, index) => {
        if (markOf(memory, period) === marks[index]) {
          addToPeriod(memory, period, usedTokens - tokens);
        }
      });
      giveBack?.();
      entries.keep(held.account, ticksOf(monotonic()));
    }

    function end(usedTokens: number, giveBack?: () => void): void {
      if (ended) return;
      ended = true;
      // One that was taken for lost holds its entries no more; it finds them again, or nothing counts.
      const isHeld = claims.end(open);
      const again = isHeld ? held : entries.hold(request.accountId, request.model);
      if (again?.account === held.account && again.model === held.model) {
        correct(usedTokens, giveBack);
      }
      if (isHeld) claims.unreserve(open);
      if (again !== undefined) entries.release(again);
    }

    return {
      view: viewNow(held, request, ticksOf(nowMs)),
      outputBound: request.outputBound,
      freeSlot: () => claims.freeSlot(open),
      settle: (usedTokens) => end(usedTokens),
      cancel(keeps) {
        end(0, () => taken.giveBackWindows(keeps));
        const laterMs = monotonic();
        claims.roll(request.accountId, laterMs);
        return lookNow(request, ticksOf(laterMs));
      },
    };
  }

  /** The view of an account that may be forgotten by now. */
  function lookNow(request: ClaimRequest, nowTicks: number): LimitView {
    const held = entries.hold(request.accountId, request.model);
    if (held === undefined) return unusedView(request, nowTicks);
    const view = viewNow(held, request, nowTicks);
    entries.release(held);
    return view;
  }

  async function claimPrepared(request: ClaimRequest): Promise<ClaimResult> {
    for (;;) {
      const { accountId, model, plan, startedAt } = request;
      if (!(await entries.prepare(accountId, plan, { model, timeMs: startedAt }))) {
        const view = unusedView(request, ticksOf(monotonic()));
        const code = 'concurrency_limit_exceeded';
        return { kind: 'refused', code, retryAfterSeconds: FULL_SECONDS, view };
      }
      const result = tryClaim(request);
      if (result !== undefined) return result;
    }
  }

  function tryLeft(accountId: string, plan: Plan): LimitView | undefined {
    const nowTicks = ticksOf(monotonic());
    const account = entries.holdAccount(accountId);
    if (account === undefined) return undefined;
    const view = planView(plan, readWindow(memory, account + WINDOW, nowTicks), nowTicks);
    entries.accounts.release(account);
    return view;
  }

  /** An account without an entry is made one; where there is no room, nothing counts. */
  async function leftPrepared(accountId: string, plan: Plan): Promise<LimitView> {
    for (;;) {
      if (!(await entries.prepare(accountId, plan))) {
        return planView(plan, createWindow(), ticksOf(monotonic()));
      }
      const view = tryLeft(accountId, plan);
      if (view !== undefined) return view;
    }
  }

  async function countRefused(accountId: string, plan: Plan): Promise<void> {
    while (tryTake(accountId, plan, WINDOW) === undefined) {
      if (!(await entries.prepare(accountId, plan))) return;
    }
  }

  /** Counts one request in a window of the account. */
  function tryTake(
    accountId: string,
    plan: Plan,
    window: typeof WINDOW | typeof COUNT_WINDOW,
  ): { readonly wait?: number } | undefined {
    const nowTicks = ticksOf(monotonic());
    const account = entries.holdAccount(accountId);
    if (account === undefined) return undefined;
    const at = account + window;
    const counted = takeRequest(memory, at, plan.requestsPerMinute, nowTicks) !== undefined;
    const wait = resetSeconds(readWindow(memory, at, nowTicks), nowTicks);
    if (counted) entries.keep(account, nowTicks);
    entries.accounts.release(account);
    return counted ? {} : { wait };
  }

  async function countPrepared(accountId: string, plan: Plan): Promise<number | undefined> {
    for (;;) {
      if (!(await entries.prepare(accountId, plan))) return FULL_SECONDS;
      const counted = tryTake(accountId, plan, COUNT_WINDOW);
      if (counted !== undefined) return counted.wait;
    }
  }

  function tryUsage(accountId: string, timeMs: number): LimitUsage | undefined {
    const nowMs = monotonic();
    claims.roll(accountId, nowMs);
    const account = entries.holdAccount(accountId);
    if (account === undefined) return undefined;
    const periods = entries.periods(account, timeMs, 'all');
    const nowTicks = ticksOf(nowMs);
    const window = readWindow(memory, account + WINDOW, nowTicks);
    const inFlight = entries.accounts.slots(account);
    const used = periods?.map((period) => usedIn(memory, period));
    entries.accounts.release(account);
    if (used === undefined) return undefined;
    return {
      requestsUsed: window.requests,
      tokensUsed: window.tokens,
      resetSeconds: resetSeconds(window, nowTicks),
      inFlight,
      dayTokens: used[0] ?? 0,
      monthTokens: used[1] ?? 0,
    };
  }

  async function usagePrepared(accountId: string, plan: Plan): Promise<LimitUsage> {
    for (;;) {
      const timeMs = clock();
      if (!(await entries.prepare(accountId, plan, { timeMs, used: true }))) {
        return entries.usageOfUnknown(accountId, timeMs);
      }
      const used = tryUsage(accountId, timeMs);
      if (used !== undefined) return used;
    }
  }

  return {
    left: (accountId, plan) => tryLeft(accountId, plan) ?? leftPrepared(accountId, plan),
    countRefused,
    claim: (request) => tryClaim(request) ?? claimPrepared(request),
    claimCount(accountId, plan) {
      const counted = tryTake(accountId, plan, COUNT_WINDOW);
      return counted === undefined ? countPrepared(accountId, plan) : counted.wait;
    },
    usage: (accountId, plan) => tryUsage(accountId, clock()) ?? usagePrepared(accountId, plan),
    claims: () => claims.list(monotonic()),
    sweep: () => claims.rollAll(monotonic()),
  };
}

/** What an account has left that has used nothing. */
function unusedView(request: ClaimRequest, nowTicks: number): LimitView {
  const { plan, incident = {} } = request;
  const unused = { window: createWindow(), slotsUsed: 0 };
  const scopes = [plan, incident].map((limits): Scope => ({ ...unused, limits }));
  return viewOf(request, scopes, nowTicks);
}
