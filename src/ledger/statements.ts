// The prepared statements of the money path, and nothing else. A guarded update answers with the
// row that it changed, or with `undefined` when its condition did not hold. What runs once or more
// a request is a `prepareStatement`; the rest stays with Drizzle.

import { and, eq, getTableColumns, isNull, lt, lte, type Placeholder, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { ClientFormatName } from '../core/admit.ts';
import { AMOUNT_MAX } from '../core/money.ts';
import type { Database } from '../store/database.ts';
import { prepareStatement } from '../store/statement.ts';
import {
  balances,
  type HoldPhase,
  holds,
  ledgerEntries,
  priceVersions,
  usageRecords,
} from '../store/tables.ts';
import type { CheckpointCommand } from './contract.ts';

type Hold = typeof holds.$inferSelect;
type Entry = typeof ledgerEntries.$inferSelect;
type UsageRecord = typeof usageRecords.$inferSelect;
type PriceVersion = typeof priceVersions.$inferSelect;

/** Two legs: `amount` moves to `ledgerAccount` (negative: away from it), its opposite to `counterAccount`. */
export type Transfer = Omit<Entry, 'id' | 'ledgerAccount'> & {
  readonly ledgerAccount: string;
  readonly counterAccount: string;
};

export type EndedHold = Pick<
  Hold,
  | 'accountId'
  | 'keyId'
  | 'format'
  | 'stream'
  | 'endUser'
  | 'model'
  | 'priceVersion'
  | 'amount'
  | 'promptTokens'
  | 'createdAt'
>;

type Dispatch = {
  requestId: string;
  upstream: string;
  modelServed: string;
  priceVersionServed: string;
  dispatchedAt: number;
};

type HoldEnd = { requestId: string; phase: HoldPhase; endedAt: number };
type EndedHoldRow = [
  accountId: string,
  keyId: string,
  format: ClientFormatName,
  stream: bigint,
  endUser: string | null,
  model: string,
  priceVersion: string,
  amount: bigint,
  promptTokens: bigint,
  createdAt: bigint,
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
        format: holds.format,
        stream: holds.stream,
        endUser: holds.endUser,
        model: holds.model,
        priceVersion: holds.priceVersion,
        amount: holds.amount,
        promptTokens: holds.promptTokens,
        createdAt: holds.createdAt,
      }),
  );

  const isOpen = and(eq(holds.requestId, value('requestId')), isNull(holds.endedAt));
  const dispatchHold = prepareStatement<Dispatch>(
    database,
    db
      .update(holds)
      .set({
        phase: sql`'dispatched'`,
        upstream: sql`${value('upstream')}`,
        modelServed: sql`${value('modelServed')}`,
        priceVersionServed: sql`${value('priceVersionServed')}`,
        dispatchedAt: sql`${value('dispatchedAt')}`,
      })
      .where(isOpen),
  );

  const checkpointHold = prepareStatement<CheckpointCommand>(
    database,
    db
      .update(holds)
      .set({
        outputTokens: sql`max(${holds.outputTokens}, ${value('outputTokens')})`,
        reasoningTokens: sql`max(${holds.reasoningTokens}, ${value('reasoningTokens')})`,
        checkpointAt: sql`${value('nowMs')}`,
      })
      .where(isOpen),
  );

  const extendHold = prepareStatement<{ requestId: string; amount: bigint }>(
    database,
    db
      .update(holds)
      .set({ amount: sql`${value('amount')}` })
      .where(isOpen),
  );

  const findOpenHold = db.select().from(holds).where(isOpen).prepare();
  const findOpenHolds = db
    .select()
    .from(holds)
    .where(and(isNull(holds.endedAt), lt(holds.createdAt, value('createdBefore'))))
    .prepare();

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
      const [accountId, keyId, format, stream, endUser, model, priceVersion, amount] = row;
      return {
        accountId,
        keyId,
        format,
        stream: stream === 1n,
        endUser,
        model,
        priceVersion,
        amount,
        promptTokens: Number(row[8]),
        createdAt: Number(row[9]),
      };
    },
    dispatchHold: dispatchHold.run,
    checkpointHold: checkpointHold.run,
    extendHold: extendHold.run,
    findOpenHold: (requestId: string) => findOpenHold.get({ requestId }),
    findOpenHolds: (createdBefore: number) => findOpenHolds.all({ createdBefore }),
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
