// Every past and future price of a model: periods that begin at an instant, each with windows of
// the day that have another price. Read when a request starts, which keeps that price. Everything
// is UTC.

import type { Price } from './price.ts';

/** In the order of `Date.getUTCDay`. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

type Weekday = (typeof WEEKDAYS)[number];

/**
 * When a window is open, in minutes after midnight. If `to` is not after `from`, it spans midnight.
 */
export type Hours = {
  /** 0 to 1439; the window's first minute. */
  readonly fromMinute: number;
  /** 0 to 1440, never `fromMinute`; the first minute after the window. */
  readonly toMinute: number;
  /** The days on which it opens; it may close on the next one. */
  readonly days: readonly Weekday[];
};

export type PriceWindow = Hours & { readonly price: Price };

export type PricePeriod = {
  /** Unix milliseconds, inclusive. The first period of a book has no start. */
  readonly validFromMs: number;
  /** The price when no window is open. */
  readonly price: Price;
  /** At most one of them is open at a time. */
  readonly windows: readonly PriceWindow[];
};

/** Periods in strictly ascending order; each ends where the next begins. */
export type PriceBook = readonly [PricePeriod, ...PricePeriod[]];

/** `validFromMs` of a first period. */
export const SINCE_EVER = Number.NEGATIVE_INFINITY;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
const WEEK_MINUTES = 7 * DAY_MINUTES;
/** 1970-01-01 was a Thursday; weeks are counted from Sunday. */
const EPOCH_MINUTE = 4 * DAY_MINUTES;

/** The price of a request that starts at `nowMs`. */
export function priceAt(book: PriceBook, nowMs: number): Price {
  return priceIn(periodAt(book, nowMs), nowMs);
}

/** Its own price and those of its windows. */
export function pricesOf({ price, windows }: PricePeriod): readonly Price[] {
  return [price, ...windows.map((window) => window.price)];
}

/** The period that contains an instant. */
export function periodAt(book: PriceBook, nowMs: number): PricePeriod {
  let found = book[0];
  for (const period of book) {
    if (period.validFromMs > nowMs) break;
    found = period;
  }
  return found;
}

/** The price at an instant if `period` applied then. */
export function priceIn(period: PricePeriod, nowMs: number): Price {
  return windowAt(period, nowMs)?.price ?? period.price;
}

/** The window of `period` that is open at an instant. */
export function windowAt(period: PricePeriod, nowMs: number): PriceWindow | undefined {
  if (period.windows.length === 0) return undefined;
  const minute = minuteOfWeek(nowMs);
  return period.windows.find((window) => isOpen(window, minute));
}

/** Whether two windows of one period would be open at the same time. */
export function overlap(one: Hours, other: Hours): boolean {
  const opensWithin = (inner: Hours, outer: Hours) =>
    inner.days.some((day) => isOpen(outer, openingMinute(inner, day)));
  return opensWithin(one, other) || opensWithin(other, one);
}

/** The next instant at which the price changes; `undefined` if it never does. */
export function nextPriceChange(book: PriceBook, nowMs: number): number | undefined {
  const { version } = priceAt(book, nowMs);
  const changes = (ms: number): boolean => priceAt(book, ms).version !== version;
  const current = periodAt(book, nowMs);
  const toCome = book.filter(({ validFromMs }) => validFromMs > nowMs);
  for (const [index, period] of [current, ...toCome].entries()) {
    const startMs = Math.max(period.validFromMs, nowMs);
    if (changes(startMs)) return startMs;
    const endMs = toCome[index]?.validFromMs ?? Number.POSITIVE_INFINITY;
    const next = boundariesAfter(period, startMs).find((ms) => ms < endMs && changes(ms));
    if (next !== undefined) return next;
  }
  return undefined;
}

/** When the period's windows open and close within the week after `startMs`, ascending. */
function boundariesAfter({ windows }: PricePeriod, startMs: number): number[] {
  const minute = minuteOfWeek(startMs);
  const minuteStartMs = Math.floor(startMs / MINUTE_MS) * MINUTE_MS;
  const minutes = windows.flatMap((window) =>
    window.days.flatMap((day) => {
      const opens = openingMinute(window, day);
      return [opens, opens + lengthMinutes(window)];
    }),
  );
  return minutes
    .map((each) => minuteStartMs + (modulo(each - minute - 1, WEEK_MINUTES) + 1) * MINUTE_MS)
    .toSorted((a, b) => a - b);
}

function lengthMinutes({ fromMinute, toMinute }: Hours): number {
  return toMinute > fromMinute ? toMinute - fromMinute : toMinute + DAY_MINUTES - fromMinute;
}

function openingMinute({ fromMinute }: Hours, day: Weekday): number {
  return WEEKDAYS.indexOf(day) * DAY_MINUTES + fromMinute;
}

/** `minute` counts from the start of Sunday. */
function isOpen(hours: Hours, minute: number): boolean {
  const length = lengthMinutes(hours);
  return hours.days.some(
    (day) => modulo(minute - openingMinute(hours, day), WEEK_MINUTES) < length,
  );
}

function minuteOfWeek(nowMs: number): number {
  return modulo(Math.floor(nowMs / MINUTE_MS) + EPOCH_MINUTE, WEEK_MINUTES);
}

/** The non-negative remainder. */
function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
