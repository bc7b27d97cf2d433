// What an account has used of one scope, and what is left of it: its plan's, and beside it that of
// every model with incident limits. Only limits.ts, which decides, calls this.

import type { LimitCode } from '../core/admit.ts';
import { secondsToUtcMidnight } from '../core/calendar.ts';
import type { IncidentLimits, Limits, LimitView } from '../core/plan.ts';
import { createWindow, resetSeconds, rollWindow, WINDOW_MS, type Window } from '../core/window.ts';

/** The typical wait for a slot (specification, limits, rule 4). */
const CONCURRENCY_RETRY_SECONDS = 2;

/** What an account has used of one scope: its plan, or one model that has limits of its own. */
export type Scope = {
  readonly requests: Window;
  readonly tokens: Window;
  readonly leases: Set<Lease>;
};

export type Lease = { expiresAt: number };

export function createScope(): Scope {
  return { requests: createWindow(), tokens: createWindow(), leases: new Set() };
}

export function rollScope(scope: Scope, nowMs: number): void {
  rollWindow(scope.requests, nowMs);
  rollWindow(scope.tokens, nowMs);
  for (const lease of scope.leases) {
    if (lease.expiresAt <= nowMs) scope.leases.delete(lease);
  }
}

export function takeFrom(scope: Scope, tokens: number, lease: Lease, nowMs: number): void {
  scope.requests.startedAt ??= nowMs;
  scope.requests.used += 1;
  scope.tokens.startedAt ??= nowMs;
  scope.tokens.used += tokens;
  scope.leases.add(lease);
}

/**
 * A window that has rolled since the claim owes nothing back. One that nothing is left in has not
 * started: the first request that is admitted anchors it, and this one was not.
 */
export function giveBack(scope: Scope, tokens: number, claimedAt: number): void {
  if (isSameWindow(scope.requests, claimedAt)) takeBack(scope.requests, 1);
  if (isSameWindow(scope.tokens, claimedAt)) takeBack(scope.tokens, tokens);
}

function takeBack(window: Window, amount: number): void {
  window.used -= amount;
  if (window.used === 0) window.startedAt = undefined;
}

function isSameWindow(window: Window, claimedAt: number): boolean {
  return (
    window.startedAt !== undefined &&
    claimedAt >= window.startedAt &&
    claimedAt < window.startedAt + WINDOW_MS
  );
}

type Remainders = {
  readonly freeSlots: number;
  readonly freeRequests: number;
  readonly freeTokens: number;
};

/** The first scope is the account's and obeys the plan; a second one obeys the incident limits. */
export function remainders(
  scopes: readonly Scope[],
  plan: Limits,
  incident: IncidentLimits | undefined,
): Remainders {
  let free: Remainders = { freeSlots: Infinity, freeRequests: Infinity, freeTokens: Infinity };
  scopes.forEach((scope, index) => {
    const limits: IncidentLimits = index === 0 ? plan : (incident ?? {});
    free = {
      freeSlots: Math.min(
        free.freeSlots,
        (limits.concurrentRequests ?? Infinity) - scope.leases.size,
      ),
      freeRequests: Math.min(
        free.freeRequests,
        (limits.requestsPerMinute ?? Infinity) - scope.requests.used,
      ),
      freeTokens: Math.min(
        free.freeTokens,
        (limits.tokensPerMinute ?? Infinity) - scope.tokens.used,
      ),
    };
  });
  return free;
}

export function viewOf(
  scopes: readonly Scope[],
  limits: Limits,
  free: Remainders,
  nowMs: number,
): LimitView {
  const resets = scopes.map((scope) => resetSeconds(scope.requests, nowMs));
  return {
    limitRequests: limits.requestsPerMinute,
    remainingRequests: Math.max(0, free.freeRequests),
    limitTokens: limits.tokensPerMinute,
    remainingTokens: Math.max(0, free.freeTokens),
    resetRequestsSeconds: Math.max(...resets),
  };
}

/** The wait until the scope that refuses has room again (specification, limits, rule 4). */
export function retryAfter(
  code: LimitCode,
  scopes: readonly Scope[],
  plan: Limits,
  incident: IncidentLimits | undefined,
  tokens: number,
  nowMs: number,
): number {
  const limitsOf = (index: number): IncidentLimits => (index === 0 ? plan : (incident ?? {}));
  switch (code) {
    case 'concurrency_limit_exceeded':
      return CONCURRENCY_RETRY_SECONDS;
    case 'rate_limit_exceeded': {
      const full = scopes.filter((scope, index) => {
        return scope.requests.used >= (limitsOf(index).requestsPerMinute ?? Infinity);
      });
      return Math.max(...full.map((scope) => resetSeconds(scope.requests, nowMs)));
    }
    case 'tokens_per_minute_exceeded': {
      const full = scopes.filter((scope, index) => {
        return scope.tokens.used + tokens > (limitsOf(index).tokensPerMinute ?? Infinity);
      });
      return Math.max(...full.map((scope) => resetSeconds(scope.tokens, nowMs)));
    }
    case 'daily_limit_exceeded':
    case 'monthly_limit_exceeded':
      return secondsToUtcMidnight(nowMs);
  }
}
