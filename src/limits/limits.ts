// The limits of one process: request and token windows, concurrency leases, daily and monthly caps.
// All five are decided together and synchronously; a refusal consumes nothing. `generate` claims
// before it holds money, and ends every claim exactly once.

import { refusedByLimits } from '../core/admit.ts';
import { secondsToUtcMidnight, utcDay, utcMonth } from '../core/calendar.ts';
import { effectiveLimits, type IncidentLimits, type LimitView, type Plan } from '../core/plan.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import {
  createWindow,
  giveBack,
  resetSeconds,
  rollWindow,
  takeFrom,
  WINDOW_MS,
  type Window,
} from '../core/window.ts';
import {
  type AccountState,
  createAccountState,
  createAccountStates,
  keep,
  LEASE_MS,
  type OpenClaim,
  rollAccount,
  slotsUsed,
} from './account.ts';
import type {
  AccountLimits,
  AdmissionHistory,
  Claim,
  ClaimRequest,
  LimitsDependencies,
  PastAdmission,
} from './contract.ts';
import { type Period, periodAt, usedIn } from './period.ts';
import { remainders, retryAfter, type Scope, viewOf } from './scope.ts';

export type { AccountLimits } from './contract.ts';

/** Accounts whose state is kept before idle ones are forgotten. */
const ACCOUNTS_MAX = 20_000;

const NO_LIMITS: IncidentLimits = {};

/** What an admitted request has taken, and where. */
type Taken = {
  readonly request: ClaimRequest;
  readonly state: AccountState;
  readonly open: OpenClaim;
  readonly tokens: number;
  /** The plan's and the model's. */
  readonly windows: readonly [Window, Window];
  readonly periods: readonly [Period, Period];
};

/** `history` is asked for the last minute at once, and for days and months when they matter. */
export function createLimits(dependencies: LimitsDependencies): AccountLimits {
  const { clock, monotonic, isLive, history } = dependencies;
  const accounts = createAccountStates(ACCOUNTS_MAX, isLive);
  const pastOf = lastMinute(history, clock(), monotonic());

  /** The account as it is now. */
  function stateOf(accountId: string, plan: Plan, nowMs: number): AccountState {
    let state = accounts.find(accountId);
    if (state === undefined) {
      state = createAccountState(pastOf(accountId, nowMs), plan, nowMs);
      accounts.add(accountId, state, nowMs);
    }
    rollAccount(state, nowMs, isLive);
    return state;
  }

  function admit(taken: Taken, nowMs: number): Claim {
    const { request, state, open, tokens, windows, periods } = taken;
    state.models.set(request.model, windows[1]);
    for (const window of windows) takeFrom(window, tokens, nowMs);
    for (const period of periods) period.since += tokens;
    state.claims.add(open);
    keep(state, nowMs);
    let ended = false;
    /** Frees the slot and corrects the caps, once. */
    const end = (usedTokens: number): boolean => {
      if (ended) return false;
      ended = true;
      state.claims.delete(open);
      for (const period of periods) period.since += usedTokens - tokens;
      keep(state, monotonic());
      return true;
    };
    return {
      view: viewNow(state, request, nowMs),
      freeSlot: () => {
        open.hasSlot = false;
      },
      settle: (usedTokens) => void end(usedTokens),
      cancel() {
        if (end(0)) for (const window of windows) giveBack(window, tokens);
        const laterMs = monotonic();
        rollAccount(state, laterMs, isLive);
        return viewNow(state, request, laterMs);
      },
    };
  }

  return {
    claim(request) {
      const nowMs = monotonic();
      const { requestId, accountId, plan, model, startedAt } = request;
      const state = stateOf(accountId, plan, nowMs);
      const modelWindow = modelWindowOf(state, model, nowMs);
      const scopes = scopesOf(state, modelWindow, request);
      const day = periodAt(state.days, startedAt, utcDay, history);
      const month = periodAt(state.months, startedAt, utcMonth, history);
      const tokens = request.promptTokens + Math.min(request.outputBound, SLICE_TOKENS);
      const left = (cap: number | undefined, period: Period): number =>
        cap === undefined ? Infinity : cap - usedIn(period, accountId, history);
      const code = refusedByLimits({
        ...remainders(scopes),
        freeDayTokens: left(plan.dailyTokens, day),
        freeMonthTokens: left(plan.monthlyTokens, month),
        tokens,
      });
      if (code !== undefined) {
        const midnightSeconds = secondsToUtcMidnight(startedAt, clock());
        const retryAfterSeconds = retryAfter(code, scopes, tokens, { nowMs, midnightSeconds });
        return { kind: 'refused', code, retryAfterSeconds, view: viewNow(state, request, nowMs) };
      }
      const open = { requestId, startedAt, model, hasSlot: true, leaseUntil: nowMs + LEASE_MS };
      const taken: Taken = {
        request,
        state,
        open,
        tokens,
        windows: [state.plan, modelWindow],
        periods: [day, month],
      };
      return { kind: 'claimed', claim: admit(taken, nowMs) };
    },

    claimCount(accountId, plan) {
      const nowMs = monotonic();
      const state = stateOf(accountId, plan, nowMs);
      if (state.counts.requests >= plan.requestsPerMinute) return resetSeconds(state.counts, nowMs);
      takeFrom(state.counts, 0, nowMs);
      keep(state, nowMs);
      return undefined;
    },

    usage(accountId, plan) {
      const nowMs = monotonic();
      const timeMs = clock();
      const state = stateOf(accountId, plan, nowMs);
      const used = (periods: Period[], spanOf: typeof utcDay): number =>
        usedIn(periodAt(periods, timeMs, spanOf, history), accountId, history);
      return {
        requestsUsed: state.plan.requests,
        tokensUsed: state.plan.tokens,
        resetSeconds: resetSeconds(state.plan, nowMs),
        inFlight: slotsUsed(state),
        dayTokens: used(state.days, utcDay),
        monthTokens: used(state.months, utcMonth),
      };
    },

    claims() {
      const nowMs = monotonic();
      return [...accounts.entries()].flatMap(([accountId, state]) => {
        const listed = [...state.claims].map(({ requestId, startedAt }) => {
          return { requestId, accountId, startedAt };
        });
        // Listed once: an account that is stopped for a lost claim asks for nothing that would let go
        // of it.
        rollAccount(state, nowMs, isLive);
        return listed;
      });
    },
  };
}

/** The window of a model; one that is not used yet is kept by whoever takes from it. */
function modelWindowOf(state: AccountState, model: string, nowMs: number): Window {
  return rollWindow(state.models.get(model) ?? createWindow(), nowMs);
}

/** What applies to a request: its plan, and its model with the limits that it has at the moment. */
function scopesOf(state: AccountState, modelWindow: Window, request: ClaimRequest): Scope[] {
  const { plan, model, incident = NO_LIMITS } = request;
  return [
    { window: state.plan, slotsUsed: slotsUsed(state), limits: plan },
    { window: modelWindow, slotsUsed: slotsUsed(state, model), limits: incident },
  ];
}

function viewNow(state: AccountState, request: ClaimRequest, nowMs: number): LimitView {
  const scopes = scopesOf(state, modelWindowOf(state, request.model, nowMs), request);
  return viewOf(scopes, effectiveLimits(request.plan, request.incident), nowMs);
}

/**
 * What the process before this one has admitted within the last minute, account by account, on the
 * clock of this one. After a minute none of it counts any more.
 */
function lastMinute(history: AdmissionHistory, timeMs: number, startedMs: number) {
  const past = history.admittedSince(timeMs - WINDOW_MS + 1).map((each) => ({
    ...each,
    // What seems to come from the future was admitted before the clock was set back.
    atMs: startedMs - Math.max(0, timeMs - each.startedAt),
  }));
  const byAccount = Map.groupBy(past, (each) => each.accountId);
  return (accountId: string, nowMs: number): readonly (PastAdmission & { atMs: number })[] => {
    if (nowMs - startedMs >= WINDOW_MS) byAccount.clear();
    return byAccount.get(accountId) ?? [];
  };
}
