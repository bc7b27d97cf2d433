// Fixed windows of 60 seconds, anchored at the first admitted request. Called by the limits. Times
// are Unix milliseconds handed in by the caller.

export const WINDOW_MS = 60_000;

/** A window that has not started has `startedAt` undefined. */
export type Window = { startedAt: number | undefined; used: number };

export function createWindow(): Window {
  return { startedAt: undefined, used: 0 };
}

/**
 * Forgets a window that has run out. A clock that was set back counts as running out too: the
 * alternative is a window that lasts for as long as the clock was wrong.
 */
export function rollWindow(window: Window, nowMs: number): void {
  if (window.startedAt === undefined) return;
  const age = nowMs - window.startedAt;
  if (age >= 0 && age < WINDOW_MS) return;
  window.startedAt = undefined;
  window.used = 0;
}

/** Whole seconds until the window resets, at least 1; a window that has not started lasts 60. */
export function resetSeconds(window: Window, nowMs: number): number {
  if (window.startedAt === undefined) return WINDOW_MS / 1_000;
  return Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - nowMs) / 1_000));
}
