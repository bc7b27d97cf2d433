// Reads budgets of keys: limits, spend, and what open requests reserve. Read-only.

import { sql } from 'drizzle-orm';
import type { BudgetLimits, BudgetSpend } from '../core/key-budget.ts';
import { type Micro, micro, ZERO } from '../core/money.ts';
import type { Database } from '../store/contract.ts';

export type KeyBudget = {
  readonly limits: BudgetLimits;
  readonly spend: BudgetSpend;
  /** Also part of no period yet. */
  readonly reserved: Micro;
};

type Row = Readonly<
  Record<'limit_total' | 'limit_day' | 'limit_month' | 'reserved', bigint | null>
> &
  Readonly<Record<'spent_total' | 'day' | 'spent_day' | 'month' | 'spent_month', bigint>> & {
    readonly family: string;
  };

/** A database limits the parameters of a statement. */
const FAMILIES_PAGE = 1_000;

/**
 * By the first key of each rotation: those of the given ones that have a budget. An account has any
 * number of budgets of revoked keys.
 */
export async function readKeyBudgets(
  { rows }: Pick<Database, 'rows'>,
  families: readonly string[],
): Promise<ReadonlyMap<string, KeyBudget>> {
  const budgets = new Map<string, KeyBudget>();
  for (let start = 0; start < families.length; start += FAMILIES_PAGE) {
    const page = families.slice(start, start + FAMILIES_PAGE);
    const found = await rows<Row>(
      sql`select t.text as family, b.limit_total, b.limit_day, b.limit_month, b.spent_total, b.day,
          b.spent_day, b.month, b.spent_month,
          (select cast(sum(h.budgeted) as bigint) from open_holds h
            where h.account = b.account and coalesce(h.family, h.key) = b.family) as reserved
        from texts t join key_budgets b on b.family = t.number
        where t.text in ${page}`,
    );
    for (const row of found) budgets.set(row.family, budgetOf(row));
  }
  return budgets;
}

function budgetOf(row: Row): KeyBudget {
  return {
    limits: {
      total: limitOf(row.limit_total),
      day: limitOf(row.limit_day),
      month: limitOf(row.limit_month),
    },
    spend: {
      total: micro(BigInt(row.spent_total)),
      day: Number(row.day),
      inDay: micro(BigInt(row.spent_day)),
      month: Number(row.month),
      inMonth: micro(BigInt(row.spent_month)),
    },
    reserved: limitOf(row.reserved) ?? ZERO,
  };
}

function limitOf(value: bigint | null): Micro | null {
  return value === null ? null : micro(BigInt(value));
}
