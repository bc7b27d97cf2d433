// What an API key may spend: in total, per UTC day and per UTC month. Pure; the ledger applies it.
//
// A budget is never exceeded: the most that each open request can cost is reserved until it ends,
// and a charge counts for the day and month in which it is booked.

import { utcDay, utcMonth } from './calendar.ts';
import { add, type Micro, subtract, ZERO } from './money.ts';

export type BudgetPeriod = 'total' | 'day' | 'month';

export const BUDGET_PERIODS: readonly BudgetPeriod[] = ['total', 'day', 'month'];

/** The name of each budget, and when it starts again. */
export const BUDGET_ENDS: Readonly<Record<BudgetPeriod, string>> = {
  total: 'total budget, which does not renew',
  day: 'daily budget, which renews at UTC midnight',
  month: 'monthly budget, which renews on the first of the next month, UTC',
};

/** Null: no limit for this period. */
export type BudgetLimits = Readonly<Record<BudgetPeriod, Micro | null>>;

export const NO_LIMITS: BudgetLimits = { total: null, day: null, month: null };

export type BudgetSpend = {
  readonly total: Micro;
  /** The UTC day of the last charge, by its first millisecond, and what was charged on it. */
  readonly day: number;
  readonly inDay: Micro;
  readonly month: number;
  readonly inMonth: Micro;
};

/** The period whose limit leaves the least, and what it leaves: negative above a lowered limit. */
export type BudgetRest = { readonly period: BudgetPeriod; readonly rest: Micro };

/** The spend as of an instant: a new day or month starts at zero, and a clock never goes back. */
export function spendAt(spend: BudgetSpend, nowMs: number): BudgetSpend {
  const day = utcDay(nowMs).fromMs;
  if (day <= spend.day) return spend;
  const month = utcMonth(nowMs).fromMs;
  const inMonth = month > spend.month ? ZERO : spend.inMonth;
  return { total: spend.total, day, inDay: ZERO, month: Math.max(month, spend.month), inMonth };
}

export function addSpend(spend: BudgetSpend, debited: Micro, nowMs: number): BudgetSpend {
  const { total, day, inDay, month, inMonth } = spendAt(spend, nowMs);
  return {
    total: add(total, debited),
    day,
    inDay: add(inDay, debited),
    month,
    inMonth: add(inMonth, debited),
  };
}

/** What was spent in each period, as of an instant. */
export function spentIn(spend: BudgetSpend, nowMs: number): Readonly<Record<BudgetPeriod, Micro>> {
  const { total, inDay, inMonth } = spendAt(spend, nowMs);
  return { total, day: inDay, month: inMonth };
}

/** Undefined without a limit. Reservations are not subtracted. */
export function budgetRest(
  limits: BudgetLimits,
  spend: BudgetSpend,
  nowMs: number,
): BudgetRest | undefined {
  const spent = spentIn(spend, nowMs);
  let least: BudgetRest | undefined;
  for (const period of BUDGET_PERIODS) {
    const limit = limits[period];
    if (limit === null) continue;
    const rest = subtract(limit, spent[period]);
    if (least === undefined || rest < least.rest) least = { period, rest };
  }
  return least;
}
