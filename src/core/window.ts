// Fixed rate-limit windows of 60 seconds that start at the first admitted request. Callers pass
// times in milliseconds of a monotonic clock.

import type { Limits } from './plan.ts';

export const WINDOW_MS = 60_000;

/**
 * Requests and tokens admitted since `startedAt`, which is undefined until the first request. An
 * expired window is replaced, not reset, so a holder can still return its share to the old one.
 */
export type RateWindow = { startedAt: number | undefined; requests: number; tokens: number };

export function createWindow(): RateWindow {
  return { startedAt: undefined, requests: 0, tokens: 0 };
}

/** The current window: this one, or a new one if it has expired. */
export function rollWindow(window: RateWindow, nowMs: number): RateWindow {
  const { startedAt } = window;
  const over = startedAt !== undefined && nowMs - startedAt >= WINDOW_MS;
  return over ? createWindow() : window;
}

/** Adds one request. */
export function takeFrom(window: RateWindow, tokens: number, nowMs: number): void {
  window.startedAt ??= nowMs;
  window.requests += 1;
  window.tokens += tokens;
}

/** Returns a request, or only its tokens. An empty window counts as not started. */
export function giveBack(window: RateWindow, tokens: number, keeps?: 'request'): void {
  if (keeps === undefined) window.requests -= 1;
  window.tokens -= tokens;
  if (window.requests === 0) window.startedAt = undefined;
}

/** Whole seconds until the window resets, at least 1; 60 if it has not started. */
export function resetSeconds(window: RateWindow, nowMs: number): number {
  if (window.startedAt === undefined) return WINDOW_MS / 1_000;
  // This order of operations keeps fractions from shortening a window that starts now.
  return Math.max(1, Math.ceil((WINDOW_MS - (nowMs - window.startedAt)) / 1_000));
}

/** One request counted in a window. */
type Admitted = { readonly atMs: number; readonly tokens: number };

/**
 * Rebuilds the window that was running when a process crashed, from its admissions of the last 60
 * seconds, newest first. The start of that window is unknown. Since it never exceeded the limits,
 * it is assumed to start where they would be used up.
 */
export function resumeWindow(
  admitted: readonly Admitted[],
  { requestsPerMinute = Infinity, tokensPerMinute = Infinity }: Partial<Limits>,
): RateWindow {
  const window = createWindow();
  for (const { atMs, tokens } of admitted) {
    if (window.requests >= requestsPerMinute || window.tokens >= tokensPerMinute) break;
    window.startedAt = atMs;
    window.requests += 1;
    window.tokens += tokens;
  }
  return window;
}
