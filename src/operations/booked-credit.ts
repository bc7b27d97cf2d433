// Reads a credit by the id of its caller, as it was booked: a repeated call gets the first result.

import { eq } from 'drizzle-orm';
import { isoTime } from '../core/calendar.ts';
import { formatTokens } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import { balances, movements } from '../store/money-tables.ts';

/** `balance` is the one on its receipt. Undefined where nothing is booked under this id. */
export async function bookedCredit({ db }: Pick<Database, 'db'>, id: string) {
  const row = await db
    .select({ movement: movements, accountId: balances.accountId })
    .from(movements)
    .innerJoin(balances, eq(balances.number, movements.account))
    .where(eq(movements.transferId, `credit:${id}`))
    .get();
  if (row === undefined) return undefined;
  const { kind, amount, reason, at, posted } = row.movement;
  return {
    id,
    object: 'credit',
    status: 'booked',
    account: row.accountId,
    kind,
    amount: formatTokens(amount),
    reason,
    booked_at: isoTime(at),
    balance: formatTokens(posted),
  } as const;
}
