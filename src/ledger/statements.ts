// The prepared statements of the money path, and nothing else. The ones over balances and holds are
// in files of their own; here are the rows that are added once and stay.

import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { type Micro, negate } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import {
  ledgerEntries,
  priceVersions,
  receipts,
  redemptionCodes,
  usageRecords,
} from '../store/money-tables.ts';
import { placeholders } from '../store/statement.ts';
import { auditEvents } from '../store/tables.ts';
import { prepareBalanceStatements } from './balance-statements.ts';
import { prepareHoldStatements } from './hold-statements.ts';

type Entry = typeof ledgerEntries.$inferSelect;
type UsageRecord = typeof usageRecords.$inferSelect;
type PriceVersion = typeof priceVersions.$inferSelect;
type ReceiptRow = typeof receipts.$inferSelect;

/** Two legs: `amount` moves to `ledgerAccount` (negative: away from it), its opposite to `counterAccount`. */
type Transfer = Omit<Entry, 'id' | 'ledgerAccount'> & {
  readonly ledgerAccount: string;
  readonly counterAccount: string;
};

/** An account's newest receipt. */
export type LastReceipt = Pick<ReceiptRow, 'sequence' | 'hash' | 'body'>;

export type Statements = ReturnType<typeof prepareStatements>;

/** Prepares every statement once. The tables must exist. */
export function prepareStatements(database: Database) {
  return {
    ...prepareBalanceStatements(database),
    ...prepareHoldStatements(database),
    ...prepareEntryStatements(database),
    ...prepareRecordStatements(database),
    ...prepareCodeStatements(database),
  };
}

function prepareEntryStatements(database: Database) {
  const value = sql.placeholder;
  const leg = {
    transferId: value('transferId'),
    kind: value('kind'),
    at: value('at'),
    reason: value('reason'),
  };
  const insertTransfer = database.prepare<Transfer & { opposite: Micro }>(
    database.db.insert(ledgerEntries).values([
      { ...leg, ledgerAccount: value('ledgerAccount'), amount: value('amount') },
      { ...leg, ledgerAccount: value('counterAccount'), amount: value('opposite') },
    ]),
  );
  const findEntries = database.db
    .select()
    .from(ledgerEntries)
    .where(eq(ledgerEntries.transferId, value('transferId')))
    .prepare();
  return {
    insertTransfer: (row: Transfer) => insertTransfer.run({ ...row, opposite: negate(row.amount) }),
    findEntries: (transferId: string) => findEntries.all({ transferId }),
    /** Rare: people move money, requests do not come here. */
    insertAuditEvent: async (row: typeof auditEvents.$inferInsert) => {
      await database.db.insert(auditEvents).values(row).run();
    },
  };
}

function prepareRecordStatements(database: Database) {
  const { db } = database;
  const value = sql.placeholder;
  const insertUsageRecord = database.prepare<UsageRecord>(
    db.insert(usageRecords).values(placeholders(usageRecords)),
  );
  const findUsageRecord = db
    .select()
    .from(usageRecords)
    .where(eq(usageRecords.requestId, value('requestId')))
    .prepare();
  const insertPriceVersion = db
    .insert(priceVersions)
    .values(placeholders(priceVersions))
    .onConflictDoNothing()
    .prepare();
  const findPriceVersion = db
    .select()
    .from(priceVersions)
    .where(eq(priceVersions.version, value('version')))
    .prepare();
  const insertReceipt = database.prepare<ReceiptRow>(
    db.insert(receipts).values(placeholders(receipts)),
  );
  const lastReceipt = database.prepare<
    { accountId: string; limit: number },
    [sequence: bigint, hash: string, body: string]
  >(
    db
      .select({ sequence: receipts.sequence, hash: receipts.hash, body: receipts.body })
      .from(receipts)
      .where(eq(receipts.accountId, value('accountId')))
      .orderBy(desc(receipts.sequence))
      .limit(value('limit')),
  );
  return {
    insertUsageRecord: insertUsageRecord.run,
    findUsageRecord: (requestId: string) => findUsageRecord.get({ requestId }),
    insertPriceVersion: async (row: PriceVersion) => {
      await insertPriceVersion.run(row);
    },
    findPriceVersion: (version: string) => findPriceVersion.get({ version }),
    insertReceipt: insertReceipt.run,
    /** An account's newest receipt. */
    async lastReceipt(accountId: string) {
      const row = await lastReceipt.get({ accountId, limit: 1 });
      return row === undefined
        ? undefined
        : { sequence: Number(row[0]), hash: row[1], body: row[2] };
    },
    /** Changes when somebody else commits, where the database can tell; asked inside a transaction. */
    foreignCommits: () => database.foreignCommits?.(),
  };
}

function prepareCodeStatements({ db }: Database) {
  const value = sql.placeholder;
  const findCode = db
    .select()
    .from(redemptionCodes)
    .where(eq(redemptionCodes.digest, value('digest')))
    .prepare();
  const redeemCode = db
    .update(redemptionCodes)
    .set({ redeemedAt: sql`${value('at')}`, redeemedBy: sql`${value('accountId')}` })
    .where(
      and(
        eq(redemptionCodes.digest, value('digest')),
        isNull(redemptionCodes.redeemedAt),
        isNull(redemptionCodes.revokedAt),
      ),
    )
    .returning({ amount: redemptionCodes.amount })
    .prepare();
  return {
    findCode: (digest: string) => findCode.get({ digest }),
    /** Marks a code as used, unless it is used or revoked already. */
    redeemCode: async (digest: string, accountId: string, at: number) =>
      (await redeemCode.get({ digest, accountId, at })) !== undefined,
  };
}
