// The calendar of the daily and monthly caps, and how an instant is printed. Everything is UTC.
// Times are Unix milliseconds handed in by the caller; nothing here asks a clock.

export const DAY_MS = 86_400_000;

/** `2026-11-21T07:58:03.120Z` */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A stretch of time: from the first of its milliseconds to the first that is none of them. */
export type Span = { readonly fromMs: number; readonly untilMs: number };

/** The day that an instant lies in. */
export function utcDay(timeMs: number): Span {
  return { fromMs: nextUtcDay(timeMs) - DAY_MS, untilMs: nextUtcDay(timeMs) };
}

/** The month that an instant lies in. */
export function utcMonth(timeMs: number): Span {
  const time = new Date(timeMs);
  const fromMs = Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1);
  return { fromMs, untilMs: nextUtcMonth(timeMs) };
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

/** Whole seconds from now until the midnight that ends the day of an instant, at least 1. */
export function secondsToUtcMidnight(timeMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((nextUtcDay(timeMs) - nowMs) / 1_000));
}
