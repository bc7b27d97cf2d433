// Recomputes what is derived and names every difference. `doctor` shows the list; an empty one is
// a healthy ledger. It changes nothing: a wrong balance is a bug to be understood, not repaired.

import { and, eq, isNull, ne, sql } from 'drizzle-orm';
import type { Micro } from '../core/money.ts';
import type { Database, Queries } from '../store/database.ts';
import { balances, holds, ledgerEntries, usageRecords } from '../store/tables.ts';

export type Difference = {
  /**
   * posted            a balance is not the sum of its entries
   * held              what is held is not the sum of the open holds
   * transfer          the legs of a transfer do not sum to zero
   * debited, loss     a usage record says another amount than the entries
   * record            a hold that has ended has no usage record, or an open one has
   */
  readonly kind: 'posted' | 'held' | 'transfer' | 'debited' | 'loss' | 'record';
  /** An account id, a transfer id or a request id. */
  readonly subject: string;
  readonly expected: Micro;
  readonly found: Micro;
};

/** Looks at one state of the books, while others go on writing. */
export function audit(database: Database): readonly Difference[] {
  return database.snapshot((tx) => [
    ...postedDifferences(tx),
    ...heldDifferences(tx),
    ...transferDifferences(tx),
    ...amountDifferences(tx, 'debited', 'settle:'),
    ...amountDifferences(tx, 'loss', 'loss:'),
    ...recordDifferences(tx),
  ]);
}

function postedDifferences(tx: Queries): Difference[] {
  const expected = sql<bigint>`coalesce(sum(${ledgerEntries.amount}), 0)`;
  return tx
    .select({ subject: balances.accountId, expected, found: balances.posted })
    .from(balances)
    .leftJoin(
      ledgerEntries,
      eq(ledgerEntries.ledgerAccount, sql`'customer:' || ${balances.accountId}`),
    )
    .groupBy(balances.accountId)
    .having(ne(balances.posted, expected))
    .all()
    .map((row) => ({ kind: 'posted', ...row }));
}

function heldDifferences(tx: Queries): Difference[] {
  const expected = sql<bigint>`coalesce(sum(${holds.amount}), 0)`;
  return tx
    .select({ subject: balances.accountId, expected, found: balances.held })
    .from(balances)
    .leftJoin(holds, and(eq(holds.accountId, balances.accountId), isNull(holds.endedAt)))
    .groupBy(balances.accountId)
    .having(ne(balances.held, expected))
    .all()
    .map((row) => ({ kind: 'held', ...row }));
}

function transferDifferences(tx: Queries): Difference[] {
  const found = sql<bigint>`sum(${ledgerEntries.amount})`;
  return tx
    .select({ subject: ledgerEntries.transferId, found })
    .from(ledgerEntries)
    .groupBy(ledgerEntries.transferId)
    .having(ne(found, 0n))
    .all()
    .map((row) => ({ kind: 'transfer', expected: 0n, ...row }));
}

/** What usage records say was debited or lost, against the operator's leg of that transfer. */
function amountDifferences(
  tx: Queries,
  kind: 'debited' | 'loss',
  transferPrefix: 'settle:' | 'loss:',
): Difference[] {
  const expected = sql<bigint>`coalesce(${ledgerEntries.amount}, 0)`;
  return tx
    .select({ subject: usageRecords.requestId, expected, found: usageRecords[kind] })
    .from(usageRecords)
    .leftJoin(
      ledgerEntries,
      and(
        eq(ledgerEntries.transferId, sql`${transferPrefix} || ${usageRecords.requestId}`),
        eq(ledgerEntries.ledgerAccount, 'operator:revenue'),
      ),
    )
    .where(ne(usageRecords[kind], expected))
    .all()
    .map((row) => ({ kind, ...row }));
}

/** Counts of records: an ended hold has one, an open hold has none. */
function recordDifferences(tx: Queries): Difference[] {
  const expected = sql<bigint>`(${holds.endedAt} is not null)`;
  const found = sql<bigint>`(${usageRecords.requestId} is not null)`;
  return tx
    .select({ subject: holds.requestId, expected, found })
    .from(holds)
    .leftJoin(usageRecords, eq(usageRecords.requestId, holds.requestId))
    .where(ne(expected, found))
    .all()
    .map((row) => ({ kind: 'record', ...row }));
}
