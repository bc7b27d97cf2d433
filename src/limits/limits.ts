// The limits of one process: request and token windows, concurrency leases, daily and monthly caps.
// All five are decided together, in one go; a refusal consumes nothing. `generate` claims
// before it holds money, and ends every claim exactly once.

import type { Awaitable } from '../async/awaitable.ts';
import { utcDay, utcMonth } from '../core/calendar.ts';
import type { IncidentLimits, LimitView, Plan } from '../core/plan.ts';
import {
  createWindow,
  giveBack,
  type RateWindow,
  resetSeconds,
  rollWindow,
  takeFrom,
} from '../core/window.ts';
import {
  type AccountClaim,
  type AccountState,
  createAccountState,
  createAccountStates,
  keep,
  LEASE_MS,
  reservedIn,
  rollAccount,
  slotsUsed,
} from './account.ts';
import type {
  AccountLimits,
  Claim,
  ClaimRequest,
  ClaimResult,
  LimitsDependencies,
  LimitUsage,
} from './contract.ts';
import { createPast } from './past.ts';
import { learn, type Period, periodAt, usedIn } from './period.ts';
import {
  type CapUse,
  decide,
  planView,
  refusalOf,
  type Scope,
  tokensOf,
  UNUSED,
  viewOf,
} from './scope.ts';

/** Accounts whose state is kept before idle ones are forgotten. */
const ACCOUNTS_MAX = 20_000;

const NO_LIMITS: IncidentLimits = {};

/** What an admitted request has taken, and where. */
type AdmittedRequest = {
  readonly request: ClaimRequest;
  readonly state: AccountState;
  readonly open: AccountClaim;
  /** The plan's and the model's. */
  readonly windows: readonly [RateWindow, RateWindow];
};

/** `history` is asked for the last minute at once, and for days and months when they matter. */
export function createLimits(dependencies: LimitsDependencies): AccountLimits {
  const { clock, monotonic, isLive, history } = dependencies;
  const accounts = createAccountStates(ACCOUNTS_MAX, isLive);
  const past = createPast(history, clock, monotonic);

  /** The account as it is now; the past has to be known. */
  function stateOf(accountId: string, plan: Plan, nowMs: number): AccountState {
    let state = accounts.find(accountId);
    if (state === undefined) {
      state = createAccountState(past.of(accountId, nowMs), plan, nowMs);
      accounts.add(accountId, state, nowMs);
    }
    rollAccount(state, nowMs, isLive);
    return state;
  }

  function admit(taken: AdmittedRequest, nowMs: number): Claim {
    const { request, state, open, windows } = taken;
    const { tokens, periods } = open;
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
      outputBound: request.outputBound,
      freeSlot: () => {
        open.hasSlot = false;
      },
      settle: (usedTokens) => void end(usedTokens),
      cancel(keeps) {
        if (end(0)) for (const window of windows) giveBack(window, tokens, keeps);
        const laterMs = monotonic();
        rollAccount(state, laterMs, isLive);
        return viewNow(state, request, laterMs);
      },
    };
  }

  /** Decides when all is known that it takes; from then on nothing else comes between. */
  function claim(request: ClaimRequest): Awaitable<ClaimResult> {
    const { accountId, plan, startedAt } = request;
    let unknown = past.load();
    if (unknown !== undefined) return unknown.then(() => claim(request));
    const nowMs = monotonic();
    const state = stateOf(accountId, plan, nowMs);
    const day = periodAt(state.days, startedAt, utcDay);
    const month = periodAt(state.months, startedAt, utcMonth);
    unknown =
      learn(day, accountId, history, plan.dailyTokens !== undefined) ??
      learn(month, accountId, history, plan.monthlyTokens !== undefined);
    if (unknown !== undefined) return unknown.then(() => claim(request));
    return decideNow(request, state, [day, month], nowMs);
  }

  function decideNow(
    request: ClaimRequest,
    state: AccountState,
    periods: readonly [Period, Period],
    nowMs: number,
  ): ClaimResult {
    const { requestId, model, startedAt, plan } = request;
    const modelWindow = modelWindowOf(state, model, nowMs);
    const scopes = scopesOf(state, modelWindow, request);
    const useOf = (period: Period, cap: number | undefined): CapUse =>
      cap === undefined ? UNUSED : { tokens: usedIn(period), reserved: reservedIn(state, period) };
    const day = useOf(periods[0], plan.dailyTokens);
    const month = useOf(periods[1], plan.monthlyTokens);
    const decided = decide(request, { scopes, day, month });
    if (decided.kind === 'refused') {
      return refusalOf(decided, scopes, { nowMs, timeMs: clock() });
    }
    const tokens = tokensOf(decided.request);
    const lease = { hasSlot: true, leaseUntil: nowMs + LEASE_MS };
    const open = { requestId, startedAt, model, ...lease, tokens, periods };
    const windows = [state.plan, modelWindow] as const;
    return {
      kind: 'claimed',
      claim: admit({ request: decided.request, state, open, windows }, nowMs),
    };
  }

  function left(accountId: string, plan: Plan): Awaitable<LimitView> {
    const unknown = past.load();
    if (unknown !== undefined) return unknown.then(() => left(accountId, plan));
    const nowMs = monotonic();
    return planView(plan, stateOf(accountId, plan, nowMs).plan, nowMs);
  }

  async function countRefused(accountId: string, plan: Plan): Promise<void> {
    await past.load();
    const nowMs = monotonic();
    const state = stateOf(accountId, plan, nowMs);
    if (state.plan.requests < plan.requestsPerMinute) takeFrom(state.plan, 0, nowMs);
    keep(state, nowMs);
  }

  function claimCount(accountId: string, plan: Plan): Awaitable<number | undefined> {
    const unknown = past.load();
    if (unknown !== undefined) return unknown.then(() => claimCount(accountId, plan));
    const nowMs = monotonic();
    const state = stateOf(accountId, plan, nowMs);
    if (state.counts.requests >= plan.requestsPerMinute) return resetSeconds(state.counts, nowMs);
    takeFrom(state.counts, 0, nowMs);
    keep(state, nowMs);
    return undefined;
  }

  function usage(accountId: string, plan: Plan): Awaitable<LimitUsage> {
    let unknown = past.load();
    if (unknown !== undefined) return unknown.then(() => usage(accountId, plan));
    const nowMs = monotonic();
    const timeMs = clock();
    const state = stateOf(accountId, plan, nowMs);
    const day = periodAt(state.days, timeMs, utcDay);
    const month = periodAt(state.months, timeMs, utcMonth);
    unknown = learn(day, accountId, history, true) ?? learn(month, accountId, history, true);
    if (unknown !== undefined) return unknown.then(() => usage(accountId, plan));
    return {
      requestsUsed: state.plan.requests,
      tokensUsed: state.plan.tokens,
      resetSeconds: resetSeconds(state.plan, nowMs),
      inFlight: slotsUsed(state),
      dayTokens: usedIn(day),
      monthTokens: usedIn(month),
    };
  }

  return {
    left,
    countRefused,
    claim,
    claimCount,
    usage,
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
function modelWindowOf(state: AccountState, model: string, nowMs: number): RateWindow {
  return rollWindow(state.models.get(model) ?? createWindow(), nowMs);
}

/** What applies to a request: its plan, and its model with the limits that it has at the moment. */
function scopesOf(state: AccountState, modelWindow: RateWindow, request: ClaimRequest): Scope[] {
  const { plan, model, incident = NO_LIMITS } = request;
  return [
    { window: state.plan, slotsUsed: slotsUsed(state), limits: plan },
    { window: modelWindow, slotsUsed: slotsUsed(state, model), limits: incident },
  ];
}

function viewNow(state: AccountState, request: ClaimRequest, nowMs: number): LimitView {
  const scopes = scopesOf(state, modelWindowOf(state, request.model, nowMs), request);
  return viewOf(request, scopes, nowMs);
}
