// What may be read of the books, on the connection of whoever asks. Nothing here writes, but for
// the balance of zero that every account begins with.

import { count, isNull, sql } from 'drizzle-orm';
import { type Micro, ZERO } from '../core/money.ts';
import type { Database, Queries } from '../store/contract.ts';
import { balances, holds } from '../store/money-tables.ts';
import { audit, type Difference } from './audit.ts';
import { prepareBalanceStatements } from './balance-statements.ts';
import type { Balance } from './contract.ts';
import { explain, type RequestStory } from './explain.ts';

export type Books = {
  /** Throws `LedgerRefusal` for an unknown account. */
  readonly balance: (accountId: string) => Promise<Balance>;
  /** Gives a new account its balance of zero, inside the transaction that creates it. */
  readonly openBalance: (tx: Queries, accountId: string) => Promise<void>;
  /** The holds that have not ended, and what they reserve in 10⁻⁶ service token, for graphs. */
  readonly openHolds: () => Promise<{ readonly count: number; readonly amount: Micro }>;
  /** All that is known of one request, or `undefined` where nothing is. */
  readonly explain: (requestId: string) => Promise<RequestStory | undefined>;
  /** Recomputes every balance and transfer; an empty list is a healthy ledger. */
  readonly audit: () => Promise<readonly Difference[]>;
};

/** `database` is open and migrated. */
export function createBooks(database: Database): Books {
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
    balance,
    async openHolds() {
      return (await openHolds.get()) ?? { count: 0, amount: ZERO };
    },
    async openBalance(tx, accountId) {
      await tx.insert(balances).values({ accountId, posted: ZERO, held: ZERO, unpaid: ZERO }).run();
    },
    explain: (requestId) => explain(database, requestId),
    audit: () => audit(database),
  };
}
