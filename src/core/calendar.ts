// The UTC calendar of the daily and monthly caps, and the format of printed instants. Callers pass
// times as Unix milliseconds; nothing here reads a clock.

export const DAY_MS = 86_400_000;

/** The latest printed second: the next instant is often of the same one. */
const latest = { second: Number.NaN, text: '' };

/** `2026-11-21T07:58:03.120Z` */
export function isoTime(timeMs: number): string {
  const time = Math.trunc(timeMs);
  const second = Math.floor(time / 1_000);
  if (second !== latest.second) {
    latest.text = new Date(time).toISOString().slice(0, -'120Z'.length);
    latest.second = second;
  }
  return `${latest.text}${String(1_000 + time - second * 1_000).slice(1)}Z`;
}

/** A half-open interval: includes `fromMs`, excludes `untilMs`. */
export type Span = { readonly fromMs: number; readonly untilMs: number };

/** The UTC day that contains an instant. */
export function utcDay(timeMs: number): Span {
  return { fromMs: nextUtcDay(timeMs) - DAY_MS, untilMs: nextUtcDay(timeMs) };
}

/** The UTC month that contains an instant. */
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

/** Whole seconds from `nowMs` until the end of the UTC day of `timeMs`, at least 1. */
export function secondsToUtcMidnight(timeMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((nextUtcDay(timeMs) - nowMs) / 1_000));
}
