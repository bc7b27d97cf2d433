// An account's usage of UTC days and months. A request always belongs to the day and month in which
// it started, and its claim settles there.

import { DAY_MS, type Span, utcDay, utcMonth } from '../core/calendar.ts';
import type { CapUse } from './scope.ts';

/** Days and months kept per account: the clock may be set back over midnight and forward again. */
const DAYS_KEPT = 4;
const MONTHS_KEPT = 2;
export const PERIODS_KEPT = DAYS_KEPT + MONTHS_KEPT;

/** A day or month, and its index within an account. */
export type Period = Span & { readonly place: number };
type Periods = readonly [day: Period, month: Period];

/** Cached by day, since most requests start on the same day as the previous one. */
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

/** Model tokens of a day or a month, including those claimed by requests in flight. */
export class PeriodUse implements CapUse {
  /** Its end, which identifies it. */
  readonly untilMs: number;
  /** The ledger mark before the first claim. */
  readonly mark: number;
  /** The usage at the mark; undefined until read, if no cap needs it. */
  before: number | undefined;
  reserved = 0;
  /** Claimed since the mark, corrected as requests end. */
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
