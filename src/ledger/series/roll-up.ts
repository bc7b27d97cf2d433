// Adds new usage records up into the series, a few at a time, behind the ledger that writes them. A
// step is one transaction over the series and the mark of how far they go, so that every record is
// in them once, whatever dies between two steps and whoever else takes one.

import { getTableColumns, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../store/contract.ts';
import {
  usageDays,
  usageEndUsers,
  usageHours,
  usageMark,
  usageModels,
} from '../../store/series-tables.ts';
import { placeholders } from '../../store/statement.ts';
import { addExcluded, type Series } from './figures.ts';
import { prepareSeriesStatements, theMark } from './statements.ts';
import { createSums, type Sums } from './sums.ts';

export type RollUp = ReturnType<typeof createRollUp>;

/** `database` is migrated, and its connection may write. */
export function createRollUp(database: Database) {
  const { mark, last } = prepareSeriesStatements(database);
  // Writing it, as it is, keeps everybody else who adds up away until this step is done.
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
  const write = prepareUpserts(database);

  /** Up to here no record is missing. */
  let settled = 0;

  return {
    /** How many records are not in the series yet. */
    behind: async (): Promise<number> => (await last()) - (await mark()),
    /** Adds up at most so many records. Answers how many it were. */
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
        await write(await sumsOf({ after, until }));
        await moveMark.run({ until });
        return until - after;
      });
    },
  };
}

/** What each series is kept by: its primary key, in the order of its columns. */
function prepareUpserts(database: Database) {
  const ofKey = ['model', 'keyId'];
  const upserts = {
    hours: prepareUpsert(database, usageHours, ['accountId', 'hour', ...ofKey]),
    days: prepareUpsert(database, usageDays, ['accountId', 'day', ...ofKey]),
    endUsers: prepareUpsert(database, usageEndUsers, ['accountId', 'day', 'endUser']),
    models: prepareUpsert(database, usageModels, ['hour', 'model']),
  };
  return async ({ hours, days, endUsers, models }: Sums): Promise<void> => {
    await Promise.all([
      ...hours.map((sum) => upserts.hours.run(sum)),
      ...days.map((sum) => upserts.days.run(sum)),
      ...endUsers.map((sum) => upserts.endUsers.run(sum)),
      ...models.map((sum) => upserts.models.run(sum)),
    ]);
  };
}

/** Adds what a row has to the one with its key, where there is one. */
function prepareUpsert(database: Database, table: Series, key: readonly string[]) {
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
