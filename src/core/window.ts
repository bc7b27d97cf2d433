// Fixed windows of 60 seconds, anchored at the first admitted request. Called by the limits. Times
// are milliseconds of a clock that never jumps, handed in by the caller.

import type { Limits } from './plan.ts';

export const WINDOW_MS = 60_000;

/**
 * What was admitted since `startedAt`, which is undefined until the first request. A window is
 * replaced when it has run out, so whoever took from it can give back to it at any time.
 */
export type RateWindow = { startedAt: number | undefined; requests: number; tokens: number };

export function createWindow(): RateWindow {
  return { startedAt: undefined, requests: 0, tokens: 0 };
}

/** The window that is running: this one, or a new one where it has run out. */
export function rollWindow(window: RateWindow, nowMs: number): RateWindow {
  const { startedAt } = window;
  const over = startedAt !== undefined && nowMs - startedAt >= WINDOW_MS;
  return over ? createWindow() : window;
}

/** Counts one request. */
export function takeFrom(window: RateWindow, tokens: number, nowMs: number): void {
  window.startedAt ??= nowMs;
  window.requests += 1;
  window.tokens += tokens;
}

/**
 * Counts a request off again, or its tokens alone. A window that nothing is left in has not
 * started.
 */
export function giveBack(window: RateWindow, tokens: number, keeps?: 'request'): void {
  if (keeps === undefined) window.requests -= 1;
  window.tokens -= tokens;
  if (window.requests === 0) window.startedAt = undefined;
}

/** Whole seconds until the window resets, at least 1; a window that has not started lasts 60. */
export function resetSeconds(window: RateWindow, nowMs: number): number {
  if (window.startedAt === undefined) return WINDOW_MS / 1_000;
  // In this order a window that starts now is exactly its length, whatever the fractions are.
  return Math.max(1, Math.ceil((WINDOW_MS - (nowMs - window.startedAt)) / 1_000));
}

/** One request that a window counts. */
type Admitted = { readonly atMs: number; readonly tokens: number };

/**
 * The window that was running when a process died, out of what it had admitted in the last 60
 * seconds, newest first. Where that window began is not known. It was never above the limits, so
 * it reached back to where they are used up, and no further.
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
