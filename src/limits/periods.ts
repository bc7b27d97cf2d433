// What an account has used of UTC days and months. A request belongs to the day and the month in which
// it started, for good: its claim settles there, whatever the clock says by then.

import { DAY_MS, type Span, utcDay, utcMonth } from '../core/calendar.ts';
import type { CapUse } from './scope.ts';

/** Days and months of an account: the clock may be set back over midnight, and come forward again. */
const DAYS_KEPT = 4;
const MONTHS_KEPT = 2;
export const PERIODS_KEPT = DAYS_KEPT + MONTHS_KEPT;

/** A day or month, and its place among those of an account. */
export type Period = Span & { readonly place: number };
type Periods = readonly [day: Period, month: Period];

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

/** Model tokens of a day or a month, with those that requests in flight have claimed. */
export class PeriodUse implements CapUse {
  /** Its end, which names it. */
  readonly untilMs: number;
  /** The state of the books before the first claim. */
  readonly mark: number;
  /** What was used by then; undefined before the books were asked, where nothing caps it. */
  before: number | undefined;
  reserved = 0;
  /** What was claimed since, corrected as requests end. */
  #since = 0;

  constructor(untilMs: number, mark: number) {
    this.untilMs = untilMs;
    this.mark = mark;
  }

  get tokens(): number {
    return (this.before ?? 0) + this.#since;
  }

  add(tokens: number, reserved: number): void {
    this.#since = Math.max(0, this.#since + tokens);
    this.reserved += reserved;
  }
}
