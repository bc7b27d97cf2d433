// What an account has used of UTC days and months: four numbers of its record each. A request belongs
// to the day and the month in which it started, for good: its claim settles there, whatever the clock
// says by then. The caller has the lock.

import { DAY_MS, type Span, utcDay, utcMonth } from '../core/calendar.ts';
import type { CapUse } from './scope.ts';
import type { Table } from './table.ts';

/** Days and months of a record: the clock may be set back over midnight, and come forward again. */
const DAYS_KEPT = 4;
const MONTHS_KEPT = 2;
export const PERIODS_KEPT = DAYS_KEPT + MONTHS_KEPT;

/** A day or month, and its place among those of an account. */
export type Period = Span & { readonly place: number };
export type Periods = readonly [day: Period, month: Period];

/** In which a claim counts, until the account is forgotten and has learned another mark. */
export type CountedPeriod = { readonly period: Period; readonly mark: number };

/** What the books have to be asked: their mark, or what was used up to a mark. */
export type Unknown = { readonly period: Period; readonly mark: number | undefined };

/**
 * The end, which names the period; the state of the books before its first claim; what was used by
 * then; and what was claimed since, corrected as requests end.
 */
const [UNTIL, MARK, BEFORE, SINCE] = [0, 1, 2, 3];
export const PERIOD_FIELDS = 4;

const NOT_ASKED = -1;

/** Of an instant in Unix milliseconds; most requests start on the day of the one before. */
export function createCalendar(): (timeMs: number) => Periods {
  let last: Periods | undefined;
  return (timeMs) => {
    if (last !== undefined && last[0].fromMs <= timeMs && timeMs < last[0].untilMs) return last;
    const [day, month] = [utcDay(timeMs), utcMonth(timeMs)];
    last = [
      { ...day, place: (day.fromMs / DAY_MS) % DAYS_KEPT },
      { ...month, place: DAYS_KEPT + (new Date(month.fromMs).getUTCMonth() % MONTHS_KEPT) },
    ];
    return last;
  };
}

/** In the table of accounts: the first of their fields, and the first of the cells of a thread. */
export function createPeriodCounters(table: Table, fields: number, reservations: number) {
  const { get, set } = table;
  const at = (account: number, { place }: Period): number =>
    account + fields + place * PERIOD_FIELDS;

  function missingOf(account: number, period: Period, used: boolean): Unknown | undefined {
    const first = at(account, period);
    if (get(first + UNTIL) !== period.untilMs) return { period, mark: undefined };
    if (!used || get(first + BEFORE) !== NOT_ASKED) return undefined;
    return { period, mark: get(first + MARK) };
  }

  return {
    /** Undefined when nothing is missing; what was used before is where `used` asks for it. */
    unknown(account: number, of: Periods, used: readonly [boolean, boolean]): Unknown | undefined {
      if (account === 0) return undefined;
      return missingOf(account, of[0], used[0]) ?? missingOf(account, of[1], used[1]);
    },
    /** An answer of the books. */
    know(account: number, { period, mark }: Unknown, answer: number): void {
      const first = at(account, period);
      const isKnown = get(first + UNTIL) === period.untilMs;
      if (isKnown && mark === get(first + MARK)) set(first + BEFORE, answer);
      if (isKnown || mark !== undefined || account === 0) return;
      // The name goes first and comes last: no half of it ever counts.
      set(first + UNTIL, 0);
      set(first + MARK, answer);
      set(first + BEFORE, NOT_ASKED);
      set(first + SINCE, 0);
      table.clearCell(account, reservations + period.place);
      set(first + UNTIL, period.untilMs);
    },
    /** Model tokens, with those that requests in flight have claimed, and what of it is reserved. */
    used(account: number, period: Period): CapUse {
      const first = at(account, period);
      const tokens = Math.max(0, get(first + BEFORE)) + get(first + SINCE);
      return { tokens, reserved: table.sum(account, reservations + period.place) };
    },
    counted: (account: number, period: Period): CountedPeriod => ({
      period,
      mark: get(at(account, period) + MARK),
    }),
    /** Counts tokens, and those that this thread reserves, in a period that is still the same. */
    add(account: number, { period, mark }: CountedPeriod, tokens: number, reserved: number): void {
      const first = at(account, period);
      if (get(first + UNTIL) !== period.untilMs || get(first + MARK) !== mark) return;
      table.addOwn(account, reservations + period.place, reserved);
      set(first + SINCE, Math.max(0, get(first + SINCE) + tokens));
    },
  };
}
