// The limits of one process: request and token windows, concurrency leases, daily and monthly caps.
// All five are decided together and synchronously; a refusal consumes nothing. `generate` claims
// before it holds money, and gives every claim back exactly once.

import { type LimitCode, refusedByLimits } from '../core/admit.ts';
import { utcDay, utcMonth } from '../core/calendar.ts';
import { effectiveLimits, type IncidentLimits, type LimitView, type Plan } from '../core/plan.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import { createWindow, resetSeconds, rollWindow, type Window } from '../core/window.ts';
import {
  type Bound,
  createScope,
  giveBack,
  type Lease,
  remainders,
  retryAfter,
  rollScope,
  type Scope,
  takeFrom,
  viewOf,
} from './scope.ts';

/** A lease that nobody renews for this long is free again: a slot can expire, but never leak. */
const LEASE_MS = 90_000;

/** Accounts whose state is kept before idle ones are forgotten. */
const ACCOUNTS_MAX = 20_000;

type ClaimRequest = {
  readonly accountId: string;
  readonly model: string;
  readonly plan: Plan;
  readonly incident: IncidentLimits | undefined;
  readonly promptTokens: number;
  readonly outputBound: number;
};

export type Claim = {
  readonly view: LimitView;
  /** Keeps the slot's lease alive; called while the answer is produced. */
  readonly renew: () => void;
  /** Ends the claim: frees the slot and corrects the caps to the tokens that were really used. */
  readonly settle: (usedTokens: number) => void;
  /** Ends the claim as if it had never been made, and says what is left: a later stage refuses. */
  readonly cancel: () => LimitView;
};

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | {
      readonly kind: 'refused';
      readonly code: LimitCode;
      readonly retryAfterSeconds: number;
      readonly view: LimitView;
    };

type LimitUsage = {
  readonly requestsUsed: number;
  readonly tokensUsed: number;
  readonly resetSeconds: number;
  readonly inFlight: number;
  readonly dayTokens: number;
  readonly monthTokens: number;
};

export type AccountLimits = {
  readonly claim: (request: ClaimRequest) => ClaimResult;
  /** The request window of count_tokens, which is apart from generation's. Seconds when refused. */
  readonly claimCount: (accountId: string, plan: Plan) => number | undefined;
  readonly usage: (accountId: string) => LimitUsage;
};

type Period = { key: string; used: number };

type AccountState = {
  readonly plan: Scope;
  readonly models: Map<string, Scope>;
  readonly counts: Window;
  day: Period | undefined;
  month: Period | undefined;
};

/**
 * `usageSince(accountId, sinceMs)` answers from the usage records how many model tokens an account
 * has used; it is asked once per account and period, so that a restart does not open the caps.
 */
export function createLimits(dependencies: {
  readonly clock: () => number;
  readonly usageSince: (accountId: string, sinceMs: number) => number;
}): AccountLimits {
  const { clock, usageSince } = dependencies;
  const accounts = new Map<string, AccountState>();

  const stateOf = (accountId: string, nowMs: number): AccountState => {
    let state = accounts.get(accountId);
    if (state === undefined) {
      if (accounts.size >= ACCOUNTS_MAX) forgetIdle(accounts, nowMs);
      state = {
        plan: createScope(),
        models: new Map(),
        counts: createWindow(),
        day: undefined,
        month: undefined,
      };
      accounts.set(accountId, state);
    }
    return state;
  };

  const rollPeriods = (state: AccountState, accountId: string, nowMs: number): [Period, Period] => {
    const day = utcDay(nowMs);
    const month = utcMonth(nowMs);
    if (state.day?.key !== day) {
      state.day = { key: day, used: usageSince(accountId, Date.parse(`${day}T00:00:00Z`)) };
    }
    if (state.month?.key !== month) {
      state.month = {
        key: month,
        used: usageSince(accountId, Date.parse(`${month}-01T00:00:00Z`)),
      };
    }
    return [state.day, state.month];
  };

  return {
    claim(request) {
      const nowMs = clock();
      const { plan, incident } = request;
      const state = stateOf(request.accountId, nowMs);
      const bounds: Bound[] = [{ scope: state.plan, limits: plan }];
      if (incident !== undefined) {
        bounds.push({ scope: modelScope(state, request.model), limits: incident });
      }
      for (const { scope } of bounds) rollScope(scope, nowMs);

      // Without caps the calendar is left alone, unless somebody has asked what was used.
      const capped = plan.dailyTokens !== undefined || plan.monthlyTokens !== undefined;
      const counted = capped || state.day !== undefined;
      const periods = counted ? rollPeriods(state, request.accountId, nowMs) : [];
      const limits = effectiveLimits(plan, incident);
      const tokens = request.promptTokens + Math.min(request.outputBound, SLICE_TOKENS);
      const code = refusedByLimits({
        ...remainders(bounds),
        freeDayTokens: (plan.dailyTokens ?? Infinity) - (periods[0]?.used ?? 0),
        freeMonthTokens: (plan.monthlyTokens ?? Infinity) - (periods[1]?.used ?? 0),
        tokens,
      });
      if (code !== undefined) {
        const retryAfterSeconds = retryAfter(code, bounds, tokens, nowMs);
        return { kind: 'refused', code, retryAfterSeconds, view: viewOf(bounds, limits, nowMs) };
      }

      const lease: Lease = { expiresAt: nowMs + LEASE_MS };
      for (const { scope } of bounds) takeFrom(scope, tokens, lease, nowMs);
      for (const period of periods) period.used += tokens;
      const view = viewOf(bounds, limits, nowMs);
      let ended = false;
      const end = (work: () => void): void => {
        if (ended) return;
        ended = true;
        for (const { scope } of bounds) scope.leases.delete(lease);
        work();
      };
      return {
        kind: 'claimed',
        claim: {
          view,
          renew: () => {
            lease.expiresAt = clock() + LEASE_MS;
          },
          settle: (usedTokens) =>
            end(() => {
              for (const period of periods) period.used += usedTokens - tokens;
              if (!counted) countLate(state, usedTokens);
            }),
          cancel: () => {
            end(() => {
              for (const { scope } of bounds) giveBack(scope, tokens, nowMs);
              for (const period of periods) period.used -= tokens;
            });
            return viewOf(bounds, limits, clock());
          },
        },
      };
    },

    claimCount(accountId, plan) {
      const nowMs = clock();
      const { counts } = stateOf(accountId, nowMs);
      rollWindow(counts, nowMs);
      if (counts.used >= plan.requestsPerMinute) return resetSeconds(counts, nowMs);
      counts.startedAt ??= nowMs;
      counts.used += 1;
      return undefined;
    },

    usage(accountId) {
      const nowMs = clock();
      const state = stateOf(accountId, nowMs);
      rollScope(state.plan, nowMs);
      const [day, month] = rollPeriods(state, accountId, nowMs);
      return {
        requestsUsed: state.plan.requests.used,
        tokensUsed: state.plan.tokens.used,
        resetSeconds: resetSeconds(state.plan.requests, nowMs),
        inFlight: state.plan.leases.size,
        dayTokens: day.used,
        monthTokens: month.used,
      };
    },
  };
}

function modelScope(state: AccountState, model: string): Scope {
  let scope = state.models.get(model);
  if (scope === undefined) {
    scope = createScope();
    state.models.set(model, scope);
  }
  return scope;
}

/** Somebody has asked for the calendar, or capped the plan, while an uncounted request ran. */
function countLate(state: AccountState, usedTokens: number): void {
  for (const period of [state.day, state.month]) {
    if (period !== undefined) period.used += usedTokens;
  }
}

/** Forgets accounts with nothing in flight and no window running; their caps reload on demand. */
function forgetIdle(accounts: Map<string, AccountState>, nowMs: number): void {
  for (const [id, state] of accounts) {
    const scopes = [state.plan, ...state.models.values()];
    for (const scope of scopes) rollScope(scope, nowMs);
    const idle = scopes.every(
      (scope) => scope.leases.size === 0 && scope.requests.startedAt === undefined,
    );
    if (idle) accounts.delete(id);
  }
}
