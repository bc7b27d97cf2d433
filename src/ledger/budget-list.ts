// Reads the budgets of an account's keys: limits, spend, and what open requests reserve. Read-only.

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

/** By the first key of each rotation. */
export async function readKeyBudgets(
  { rows }: Pick<Database, 'rows'>,
  accountId: string,
): Promise<ReadonlyMap<string, KeyBudget>> {
  const found = await rows<Row>(
    sql`select t.text as family, b.limit_total, b.limit_day, b.limit_month, b.spent_total, b.day,
        b.spent_day, b.month, b.spent_month,
        (select cast(sum(h.budgeted) as bigint) from open_holds h
          where h.account = b.account and coalesce(h.family, h.key) = b.family) as reserved
      from key_budgets b join texts t on t.number = b.family
      where b.account = (select number from balances where account_id = ${accountId})`,
  );
  return new Map(
    found.map((row) => [
      row.family,
      {
        limits: {
          total: limitOf(row.limit_total),
          day: limitOf(row.limit_day),
          month: limitOf(row.limit_month),
        },
        spend: {
          total: micro(BigInt(row.spent_total)),
          ...{ day: Number(row.day), inDay: micro(BigInt(row.spent_day)) },
          ...{ month: Number(row.month), inMonth: micro(BigInt(row.spent_month)) },
        },
        reserved: limitOf(row.reserved) ?? ZERO,
      },
    ]),
  );
}

function limitOf(value: bigint | null): Micro | null {
  return value === null ? null : micro(BigInt(value));
}
