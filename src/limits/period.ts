// What an account has used of one UTC day or month. A request belongs to the day and the month in
// which it started, for good: its claim keeps hold of both, and settles there whatever the clock
// says by then. Only limits.ts calls this.

import type { Span } from '../core/calendar.ts';
import type { AdmissionHistory } from './contract.ts';

export type Period = Span & {
  /** The state of the books when the first claim of this period was made. */
  readonly mark: number;
  /** What the books had at the mark; looked up once, when somebody has to know. */
  before: number | undefined;
  /** What was claimed since then, corrected as requests end. */
  since: number;
};

/**
 * Periods that an account keeps, newest first. A clock that is set back over midnight and comes
 * forward again finds the one that it had left.
 */
const PERIODS_KEPT = 8;

/** The period that an instant lies in, `spanOf` that instant where it is a new one. */
export function periodAt(
  periods: Period[],
  timeMs: number,
  spanOf: (timeMs: number) => Span,
  history: AdmissionHistory,
): Period {
  const known = periods.find(({ fromMs, untilMs }) => fromMs <= timeMs && timeMs < untilMs);
  if (known !== undefined) return known;
  const period = { ...spanOf(timeMs), mark: history.mark(), before: undefined, since: 0 };
  periods.unshift(period);
  periods.length = Math.min(periods.length, PERIODS_KEPT);
  return period;
}

/** Model tokens used in the period, what is claimed by requests in flight included. */
export function usedIn(period: Period, accountId: string, history: AdmissionHistory): number {
  period.before ??= history.usedBefore(accountId, period, period.mark);
  return period.before + period.since;
}
