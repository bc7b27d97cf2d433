// The prepared statements of the money path, and nothing else. A guarded update answers with the
// row that it changed, or with `undefined` when its condition did not hold. What runs once or more
// a request is a `prepareStatement`; the rest stays with Drizzle.

import { and, eq, getTableColumns, isNull, lte, type Placeholder, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { AMOUNT_MAX } from '../core/money.ts';
import type { Database } from '../store/database.ts';
import { prepareStatement } from '../store/statement.ts';
import { balances, holds, ledgerEntries, priceVersions, usageRecords } from '../store/tables.ts';

type Hold = typeof holds.$inferSelect;
type Entry = typeof ledgerEntries.$inferSelect;
type UsageRecord = typeof usageRecords.$inferSelect;
type PriceVersion = typeof priceVersions.$inferSelect;

/** Two legs: `amount` moves to `ledgerAccount` (negative: away from it), its opposite to `counterAccount`. */
export type Transfer = Omit<Entry, 'id' | 'ledgerAccount'> & {
  readonly ledgerAccount: string;
  readonly counterAccount: string;
};

export type EndedHold = Omit<Hold, 'requestId' | 'outputBound' | 'phase' | 'createdAt' | 'endedAt'>;

type HoldEnd = { requestId: string; phase: 'settled' | 'released'; endedAt: number };
type EndedHoldRow = [
  accountId: string,
  keyId: string,
  model: string,
  priceVersion: string,
  amount: bigint,
  promptTokens: bigint,
];

export type Statements = ReturnType<typeof prepareStatements>;

/** Prepares every statement once. The tables must exist. */
export function prepareStatements(database: Database) {
  const { db } = database;
  const value = sql.placeholder;
  const available = sql<bigint>`${balances.posted} - ${balances.held}`;
  const ofAccount = eq(balances.accountId, value('accountId'));

  const reserve = prepareStatement<{ accountId: string; amount: bigint }, [bigint]>(
    database,
    db
      .update(balances)
      .set({ held: sql`${balances.held} + ${value('amount')}` })
      .where(and(ofAccount, sql`${available} >= ${value('amount')}`))
      .returning({ available }),
  );

  const spend = prepareStatement<{ accountId: string; held: bigint; debited: bigint }, [bigint]>(
    database,
    db
      .update(balances)
      .set({
        posted: sql`${balances.posted} - ${value('debited')}`,
        held: sql`${balances.held} - ${value('held')}`,
      })
      .where(ofAccount)
      .returning({ available }),
  );

  const deposit = db
    .update(balances)
    .set({ posted: sql`${balances.posted} + ${value('amount')}` })
    .where(and(ofAccount, lte(balances.posted, sql`${AMOUNT_MAX} - ${value('amount')}`)))
    .returning({ available })
    .prepare();

  const findBalance = db
    .select({ posted: balances.posted, held: balances.held, available })
    .from(balances)
    .where(ofAccount)
    .prepare();

  const insertHold = prepareStatement<Hold>(database, db.insert(holds).values(placeholders(holds)));

  const endHold = prepareStatement<HoldEnd, EndedHoldRow>(
    database,
    db
      .update(holds)
      .set({ phase: sql`${value('phase')}`, endedAt: sql`${value('endedAt')}` })
      .where(and(eq(holds.requestId, value('requestId')), isNull(holds.endedAt)))
      .returning({
        accountId: holds.accountId,
        keyId: holds.keyId,
        model: holds.model,
        priceVersion: holds.priceVersion,
        amount: holds.amount,
        promptTokens: holds.promptTokens,
      }),
  );

  const leg = {
    transferId: value('transferId'),
    kind: value('kind'),
    at: value('at'),
    reason: value('reason'),
  };
  const insertTransfer = prepareStatement<Transfer & { opposite: bigint }>(
    database,
    db.insert(ledgerEntries).values([
      { ...leg, ledgerAccount: value('ledgerAccount'), amount: value('amount') },
      { ...leg, ledgerAccount: value('counterAccount'), amount: value('opposite') },
    ]),
  );

  const findEntries = db
    .select()
    .from(ledgerEntries)
    .where(eq(ledgerEntries.transferId, value('transferId')))
    .prepare();

  const insertUsageRecord = prepareStatement<UsageRecord>(
    database,
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

  return {
    /** Raises what is held, if the available balance covers it. Answers what is available then. */
    reserve: (accountId: string, amount: bigint) => reserve.get({ accountId, amount })?.[0],
    /** Ends a hold of `held` and takes `debited`. Answers what is available then. */
    spend: (accountId: string, held: bigint, debited: bigint) =>
      spend.get({ accountId, held, debited })?.[0],
    /** Adds to the balance, unless it would pass the largest amount there is. */
    deposit: (accountId: string, amount: bigint) => deposit.get({ accountId, amount }),
    findBalance: (accountId: string) => findBalance.get({ accountId }),
    insertHold: insertHold.run,
    /** Ends a hold that is still open, and answers with it. */
    endHold(end: HoldEnd): EndedHold | undefined {
      const row = endHold.get(end);
      if (row === undefined) return undefined;
      const [accountId, keyId, model, priceVersion, amount, promptTokens] = row;
      return { accountId, keyId, model, priceVersion, amount, promptTokens: Number(promptTokens) };
    },
    insertTransfer: (row: Transfer) => insertTransfer.run({ ...row, opposite: -row.amount }),
    findEntries: (transferId: string) => findEntries.all({ transferId }),
    insertUsageRecord: insertUsageRecord.run,
    findUsageRecord: (requestId: string) => findUsageRecord.get({ requestId }),
    insertPriceVersion: (row: PriceVersion) => void insertPriceVersion.run(row),
    findPriceVersion: (version: string) => findPriceVersion.get({ version }),
  };
}

/** One placeholder a column, named like it: such a statement takes a whole row. */
function placeholders<T extends SQLiteTable>(
  table: T,
): Record<keyof T['$inferInsert'], Placeholder> {
  const names = Object.keys(getTableColumns(table));
  // Object.fromEntries forgets the keys that it was given.
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Record<
    keyof T['$inferInsert'],
    Placeholder
  >;
}
