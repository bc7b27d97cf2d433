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

/** A scope and the limits that hold in it: the plan's, or those of a model's incident. */
export type Bound = { readonly scope: Scope; readonly limits: IncidentLimits };

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

/** What is left of the tightest scope, limit by limit. */
export function remainders(bounds: readonly Bound[]): Remainders {
  const least = (left: (bound: Bound) => number): number => Math.min(...bounds.map(left));
  return {
    freeSlots: least(({ scope, limits }) => limitOf(limits.concurrentRequests) - scope.leases.size),
    freeRequests: least(
      ({ scope, limits }) => limitOf(limits.requestsPerMinute) - scope.requests.used,
    ),
    freeTokens: least(({ scope, limits }) => limitOf(limits.tokensPerMinute) - scope.tokens.used),
  };
}

/** `limits` are the effective ones, the lower of plan and model. */
export function viewOf(bounds: readonly Bound[], limits: Limits, nowMs: number): LimitView {
  const free = remainders(bounds);
  return {
    limitRequests: limits.requestsPerMinute,
    remainingRequests: Math.max(0, free.freeRequests),
    limitTokens: limits.tokensPerMinute,
    remainingTokens: Math.max(0, free.freeTokens),
    resetRequestsSeconds: longestReset(
      bounds.map(({ scope }) => scope.requests),
      nowMs,
    ),
  };
}

/** The wait until the scope that refuses has room again (specification, limits, rule 4). */
export function retryAfter(
  code: LimitCode,
  bounds: readonly Bound[],
  tokens: number,
  nowMs: number,
): number {
  switch (code) {
    case 'concurrency_limit_exceeded':
      return CONCURRENCY_RETRY_SECONDS;
    case 'rate_limit_exceeded': {
      const full = bounds.filter(
        ({ scope, limits }) => scope.requests.used >= limitOf(limits.requestsPerMinute),
      );
      return longestReset(
        full.map(({ scope }) => scope.requests),
        nowMs,
      );
    }
    case 'tokens_per_minute_exceeded': {
      const full = bounds.filter(
        ({ scope, limits }) => scope.tokens.used + tokens > limitOf(limits.tokensPerMinute),
      );
      return longestReset(
        full.map(({ scope }) => scope.tokens),
        nowMs,
      );
    }
    case 'daily_limit_exceeded':
    case 'monthly_limit_exceeded':
      return secondsToUtcMidnight(nowMs);
  }
}

function limitOf(limit: number | undefined): number {
  return limit ?? Infinity;
}

function longestReset(windows: readonly Window[], nowMs: number): number {
  return Math.max(...windows.map((window) => resetSeconds(window, nowMs)));
}
