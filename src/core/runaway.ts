// Decides when the spend of a key is far above its habit. Pure; the runaway guard applies it.
//
// The habit is the most that a key spent in one hour of the last 28 days, without the last day. A
// key that was first used in the last two days has the habit of its account. A key runs away where
// ten minutes cost more than a multiple of that hour and more than a floor. So a burst never becomes
// the habit that excuses it, and growth takes a day for each multiple.

import { DAY_MS } from './calendar.ts';
import { add, type Micro, micro, subtract, ZERO } from './money.ts';

/** The spend that is compared with the habit is of this time. */
export const WINDOW_MS = 10 * 60_000;

/** The window moves in steps. Without the oldest of them, it has at least 9.5 minutes. */
export const SLICE_MS = 30_000;

/** Charges with a later end come from a clock that was set back. */
const AHEAD_MS_MAX = 60_000;

const HOUR_MS = 3_600_000;
export const HABIT_DAYS = 28;

/**
 * How long a key is left alone after it was resumed. Then its habit includes what it spent before
 * that and in the day after it: a key that was paused at once spent little before.
 */
export const GRACE_MS = 2 * DAY_MS;

export type RunawayLimits = {
  /** How many times its busiest hour a key may spend in ten minutes. */
  readonly factor: number;
  /** Less than this in ten minutes is never too much. */
  readonly floor: Micro;
};

/** The most that a key may spend in ten minutes. */
export function allowedSpend({ factor, floor }: RunawayLimits, busiestHour: Micro): Micro {
  const multiple = micro(BigInt(factor) * busiestHour);
  return multiple > floor ? multiple : floor;
}

/** The hours of the habit, by their first milliseconds: whole UTC hours from `fromMs` on. */
export function habitSpan(nowMs: number): { readonly fromMs: number; readonly untilMs: number } {
  const fromMs = nowMs - HABIT_DAYS * DAY_MS;
  return {
    fromMs: fromMs - (fromMs % HOUR_MS),
    untilMs: nowMs - DAY_MS - (nowMs % HOUR_MS) + HOUR_MS,
  };
}

/** A sum of charges that were booked for requests of one key. */
export type KeyCharge<Key> = {
  readonly key: Key;
  /** The number of the step in which the requests ended: their end divided by `SLICE_MS`. */
  readonly slice: number;
  readonly amount: Micro;
};

/** What each key spent in the last ten minutes: sums by key, in as many steps as fit. */
export function createSpendWindow<Key>() {
  const slices = new Map<number, Map<Key, Micro>>();
  const totals = new Map<Key, Micro>();

  function drop(slice: number, amounts: ReadonlyMap<Key, Micro>): void {
    slices.delete(slice);
    for (const [key, amount] of amounts) {
      const rest = subtract(totals.get(key) ?? ZERO, amount);
      if (rest === ZERO) totals.delete(key);
      else totals.set(key, rest);
    }
  }

  return {
    /** Ignores what ended before the window or, because a clock was set back, long after it. */
    add({ key, slice, amount }: KeyCharge<Key>, nowMs: number): void {
      if (amount === ZERO || !isInWindow(slice, nowMs)) return;
      const amounts = slices.getOrInsertComputed(slice, () => new Map());
      amounts.set(key, add(amounts.get(key) ?? ZERO, amount));
      totals.set(key, add(totals.get(key) ?? ZERO, amount));
    },
    /** Keys that spent more than `floor`, with their spend. */
    above(floor: Micro, nowMs: number): readonly (readonly [key: Key, spent: Micro])[] {
      for (const [slice, amounts] of slices) if (!isInWindow(slice, nowMs)) drop(slice, amounts);
      return [...totals].filter(([, spent]) => spent > floor);
    },
  };
}

/** A slice that began before the window is not part of it. */
export function isInWindow(slice: number, nowMs: number): boolean {
  const startMs = slice * SLICE_MS;
  return startMs > nowMs - WINDOW_MS && startMs <= nowMs + AHEAD_MS_MAX;
}
