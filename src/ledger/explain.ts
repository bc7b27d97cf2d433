// Gathers what the books say about one request. The command line turns it into words.

import { and, eq, inArray, lte, sql } from 'drizzle-orm';
import { type Micro, ZERO } from '../core/money.ts';
import type { Database, Queries } from '../store/contract.ts';
import {
  holds,
  ledgerEntries,
  priceVersions,
  receipts,
  usageRecords,
} from '../store/money-tables.ts';

export type RequestHistory = {
  readonly hold: typeof holds.$inferSelect;
  /** Absent while the request is under way. */
  readonly record: typeof usageRecords.$inferSelect | undefined;
  /** Two legs a transfer, in the order of booking; none where nothing was charged. */
  readonly entries: readonly (typeof ledgerEntries.$inferSelect)[];
  /** The price that was asked for and, where another one served, that one. */
  readonly prices: readonly (typeof priceVersions.$inferSelect)[];
  /** What the account had posted right after this request; absent where nothing was charged. */
  readonly balanceAfter: Micro | undefined;
  /** Its link in the account's chain; absent while the request is under way. */
  readonly receipt: Pick<typeof receipts.$inferSelect, 'sequence' | 'hash'> | undefined;
};

/** One consistent look: all parts belong to the same state of the books. */
export async function explain(
  database: Database,
  requestId: string,
): Promise<RequestHistory | undefined> {
  return database.snapshot(async (tx) => {
    const hold = await tx.select().from(holds).where(eq(holds.requestId, requestId)).get();
    if (hold === undefined) return undefined;
    const record = await tx
      .select()
      .from(usageRecords)
      .where(eq(usageRecords.requestId, requestId))
      .get();
    const transfers = [`settle:${requestId}`, `loss:${requestId}`];
    const entries = await tx
      .select()
      .from(ledgerEntries)
      .where(inArray(ledgerEntries.transferId, transfers))
      .orderBy(ledgerEntries.id)
      .all();
    const served = record?.priceVersionServed ?? hold.priceVersionServed ?? hold.priceVersion;
    const versions = [hold.priceVersion, served];
    const prices = await tx
      .select()
      .from(priceVersions)
      .where(inArray(priceVersions.version, versions))
      .orderBy(priceVersions.version)
      .all();
    const customer = `customer:${hold.accountId}`;
    const last = entries.findLast((entry) => entry.ledgerAccount === customer);
    const balanceAfter = last === undefined ? undefined : await postedUpTo(tx, customer, last.id);
    const receipt = await tx
      .select({ sequence: receipts.sequence, hash: receipts.hash })
      .from(receipts)
      .where(eq(receipts.subject, requestId))
      .get();
    return { hold, record, entries, prices, balanceAfter, receipt };
  });
}

/** The sum of an account's entries up to one of them; open holds are not counted. */
async function postedUpTo(tx: Queries, ledgerAccount: string, entryId: number): Promise<Micro> {
  const row = await tx
    .select({ total: sql<Micro>`coalesce(sum(${ledgerEntries.amount}), 0)` })
    .from(ledgerEntries)
    .where(and(eq(ledgerEntries.ledgerAccount, ledgerAccount), lte(ledgerEntries.id, entryId)))
    .get();
  return row?.total ?? ZERO;
}
