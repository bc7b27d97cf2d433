// The calendar of the daily and monthly caps, and how an instant is printed. Everything is UTC.
// Times are Unix milliseconds handed in by the caller; nothing here asks a clock.

export const DAY_MS = 86_400_000;

/** `2026-11-21T07:58:03.120Z` */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** `2026-11-21` */
export function utcDay(nowMs: number): string {
  return isoTime(nowMs).slice(0, 10);
}

/** `2026-11` */
export function utcMonth(nowMs: number): string {
  return isoTime(nowMs).slice(0, 7);
}

/** The next midnight. */
export function nextUtcDay(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}

/** The first midnight of the next month. */
export function nextUtcMonth(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

/** Whole seconds until the next midnight, at least 1. */
export function secondsToUtcMidnight(nowMs: number): number {
  return Math.ceil((nextUtcDay(nowMs) - nowMs) / 1_000);
}
