// Reads the books over the caller's connection. Its only write is the zero balance of a new
// account.

import { count, eq, sql } from 'drizzle-orm';
import { subtract, ZERO } from '../core/money.ts';
import type { Database, Queries } from '../store/contract.ts';
import { balances, openHolds } from '../store/money-tables.ts';
import { wideSum } from '../store/wide-sum.ts';
import { archivesOfRequest } from './archive/anchors.ts';
import { audit } from './audit.ts';
import { findReceipt } from './booked-receipts.ts';
import type { Balance } from './contract.ts';
import { LedgerRefusal } from './error.ts';
import { explain } from './explain.ts';

export type Books = ReturnType<typeof createBooks>;

/** `database` is open and migrated. */
export function createBooks(database: Database) {
  const allOpen = database.db
    .select({ count: count(), amount: wideSum(openHolds.amount) })
    .from(openHolds)
    .prepare();
  const find = database.db
    .select({ posted: balances.posted, held: balances.held })
    .from(balances)
    .where(eq(balances.accountId, sql.placeholder('accountId')))
    .prepare();

  return {
    /** Throws `LedgerRefusal` for an unknown account. */
    async balance(accountId: string): Promise<Balance> {
      const found = await find.get({ accountId });
      if (found === undefined) throw new LedgerRefusal('There is no account with this id.');
      return { ...found, available: subtract(found.posted, found.held) };
    },
    /** The open holds, and what they reserve in 10⁻⁶ service token, for metrics. */
    openHolds: async () => (await allOpen.get()) ?? { count: 0, amount: ZERO },
    /** Gives a new account its zero balance, inside the transaction that creates it. */
    async openBalance(tx: Queries, accountId: string): Promise<void> {
      await tx.insert(balances).values({ accountId, posted: ZERO, held: ZERO, unpaid: ZERO }).run();
    },
    /** All facts about one request; `undefined` where there are none. */
    explain: (requestId: string) => explain(database, requestId),
    /** The receipt of a request, or of a movement by its transfer id; `undefined` if archived. */
    receipt: (subject: string) => findReceipt(database.db, subject),
    /** The archives that may contain a request, of one account or of all. */
    archivesOf: (requestId: string, accountId?: string) =>
      archivesOfRequest(database.db, requestId, accountId),
    /** Recomputes every balance and transfer; an empty list is a healthy ledger. */
    audit: () => audit(database),
  };
}
