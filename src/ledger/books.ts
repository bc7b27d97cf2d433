// What may be read of the books, on the connection of whoever asks. Nothing here writes, but for
// the balance of zero that every account begins with.

import { count, isNull, sql } from 'drizzle-orm';
import { ZERO } from '../core/money.ts';
import type { Database, Queries } from '../store/contract.ts';
import { balances, holds } from '../store/money-tables.ts';
import { audit } from './audit.ts';
import { prepareBalanceStatements } from './balance-statements.ts';
import { explain } from './explain.ts';

export type Books = ReturnType<typeof createBooks>;

/** `database` is open and migrated. */
export function createBooks(database: Database) {
  const { balance } = prepareBalanceStatements(database);
  const openHolds = database.db
    .select({
      count: count(),
      amount: sql`coalesce(sum(${holds.amount}), 0)`.mapWith(holds.amount),
    })
    .from(holds)
    .where(isNull(holds.endedAt))
    .prepare();
  return {
    /** Throws `LedgerRefusal` for an unknown account. */
    balance,
    /** The holds that have not ended, and what they reserve in 10⁻⁶ service token, for graphs. */
    openHolds: async () => (await openHolds.get()) ?? { count: 0, amount: ZERO },
    /** Gives a new account its balance of zero, inside the transaction that creates it. */
    async openBalance(tx: Queries, accountId: string): Promise<void> {
      await tx.insert(balances).values({ accountId, posted: ZERO, held: ZERO, unpaid: ZERO }).run();
    },
    /** All that is known of one request, or `undefined` where nothing is. */
    explain: (requestId: string) => explain(database, requestId),
    /** Recomputes every balance and transfer; an empty list is a healthy ledger. */
    audit: () => audit(database),
  };
}
