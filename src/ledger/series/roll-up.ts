// Aggregates new usage records into the series in small steps, after the ledger wrote them. A step
// is one transaction over the series and their position, so every record counts once despite
// crashes and concurrent steps.

import { getTableColumns, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../store/contract.ts';
import {
  usageAccounts,
  usageDays,
  usageEndUsers,
  usageHours,
  usageMark,
  usageModels,
} from '../../store/series-tables.ts';
import { placeholders } from '../../store/statement.ts';
import { createEndUserBound } from './end-users.ts';
import { addExcluded, type Series } from './figures.ts';
import { prepareSpeedWriter } from './speeds.ts';
import { prepareSeriesStatements, theMark } from './statements.ts';
import { createSums, type Sums } from './sums.ts';

export type RollUp = ReturnType<typeof createRollUp>;

/** `database` is migrated and writable. `endUsersSizeMax` is the room of a day, in characters. */
export function createRollUp(database: Database, endUsersSizeMax?: number) {
  const { mark, last } = prepareSeriesStatements(database);
  // Writing the unchanged row locks it, so concurrent steps wait until this one commits.
  const takeMark = database.db
    .update(usageMark)
    .set({ lastRecord: sql`${usageMark.lastRecord}` })
    .where(theMark)
    .returning({ row: usageMark.lastRecord })
    .prepare();
  const moveMark = database.db
    .update(usageMark)
    .set({ lastRecord: sql`${sql.placeholder('until')}` })
    .where(theMark)
    .prepare();
  const sumsOf = createSums(database);
  const bound = createEndUserBound(database, endUsersSizeMax);
  const write = prepareUpserts(database);

  /** No record up to here is missing. */
  let settled = 0;

  return {
    /** How many records are not rolled up yet. */
    behind: async (): Promise<number> => (await last()) - (await mark()),
    /** Rolls up at most `recordsMax` records. Resolves with their number. */
    async step(recordsMax: number): Promise<number> {
      const done = await mark();
      if (settled - done < recordsMax) {
        if ((await last()) === done) return 0;
        settled = await database.settled(last);
      }
      return database.concurrently(async () => {
        const after = (await takeMark.get())?.row ?? 0;
        const until = Math.min(settled, after + recordsMax);
        if (until <= after) return 0;
        const sums = await sumsOf({ after, until });
        await write({ ...sums, endUsers: await bound(sums.endUsers, { after, until }) });
        await moveMark.run({ until });
        return until - after;
      });
    },
  };
}

/** Each series with its primary key, in the order of its columns. */
function prepareUpserts(database: Database) {
  const ofKey = ['model', 'requested', 'keyId'];
  const upserts = {
    hours: prepareUpsert(database, usageHours, ['accountId', 'hour', ...ofKey]),
    days: prepareUpsert(database, usageDays, ['accountId', 'day', ...ofKey]),
    endUsers: prepareUpsert(database, usageEndUsers, ['accountId', 'day', 'endUser', ...ofKey]),
    models: prepareUpsert(database, usageModels, ['hour', 'model', 'requested']),
    accounts: prepareUpsert(database, usageAccounts, ['accountId', 'day']),
  };
  const writeSpeeds = prepareSpeedWriter(database);
  return async ({ hours, days, endUsers, models, accounts, speeds }: Sums): Promise<void> => {
    await Promise.all([
      ...speeds.map(writeSpeeds),
      ...hours.map((sum) => upserts.hours.run(sum)),
      ...days.map((sum) => upserts.days.run(sum)),
      ...endUsers.map((sum) => upserts.endUsers.run(sum)),
      ...models.map((sum) => upserts.models.run(sum)),
      ...accounts.map((sum) => upserts.accounts.run(sum)),
    ]);
  };
}

/** Adds the figures of a row to the existing row of its key, if any. */
function prepareUpsert(
  database: Database,
  table: Series | typeof usageAccounts,
  key: readonly string[],
) {
  const columns: Readonly<Record<string, SQLiteColumn>> = getTableColumns(table);
  const added = Object.keys(columns).filter((name) => !key.includes(name));
  return database.prepare(
    database.db
      .insert(table)
      .values(placeholders(table) as never)
      .onConflictDoUpdate({
        target: key.flatMap((name) => columns[name] ?? []),
        set: addExcluded(columns, added),
      }),
  );
}
