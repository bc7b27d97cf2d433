// What an account has used of one UTC day or month. A request belongs to the day and the month in
// which it started, for good: its claim keeps hold of both, and settles there whatever the clock
// says by then. Only limits.ts calls this.

import type { Span } from '../core/calendar.ts';
import type { AdmissionHistory } from './contract.ts';

export type Period = Span & {
  /** The state of the books before the first claim of this period was made; learned first of all. */
  mark: number | undefined;
  /** What the books had at the mark; looked up once, when somebody has to know. */
  before: number | undefined;
  /** What was claimed since then, corrected as requests end. */
  since: number;
  /** The books are being asked. */
  asking: Promise<void> | undefined;
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
): Period {
  const known = periods.find(({ fromMs, untilMs }) => fromMs <= timeMs && timeMs < untilMs);
  if (known !== undefined) return known;
  const unknown = { mark: undefined, before: undefined, since: 0, asking: undefined };
  const period: Period = { ...spanOf(timeMs), ...unknown };
  periods.unshift(period);
  periods.length = Math.min(periods.length, PERIODS_KEPT);
  return period;
}

/**
 * Asks the books for what is not known yet: the mark, and what was used before it where `used` says
 * so. Undefined when nothing is missing; else look again when the promise is kept.
 */
export function learn(
  period: Period,
  accountId: string,
  history: AdmissionHistory,
  used: boolean,
): Promise<void> | undefined {
  if (period.asking !== undefined) return period.asking;
  if (period.mark === undefined) {
    const mark = history.mark();
    if (typeof mark !== 'number') {
      return ask(period, mark, (value) => {
        period.mark = value;
      });
    }
    period.mark = mark;
  }
  if (!used || period.before !== undefined) return undefined;
  const before = history.usedBefore(accountId, period, period.mark);
  if (typeof before !== 'number') {
    return ask(period, before, (value) => {
      period.before = value;
    });
  }
  period.before = before;
  return undefined;
}

/** Model tokens used in the period, what is claimed by requests in flight included. */
export function usedIn({ before = 0, since }: Period): number {
  return before + since;
}

function ask(period: Period, answer: Promise<number>, know: (value: number) => void) {
  period.asking = answer.then(know).finally(() => {
    period.asking = undefined;
  });
  return period.asking;
}
