// Adds new usage records up into the series, a few at a time, behind the ledger that writes them. A
// step is one transaction over the series and the mark of how far they go, so that every record is
// in them once, whatever dies between two steps and whoever else takes one.

import { and, eq, getTableColumns, gt, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { add, type Micro, subtract, ZERO } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-tables.ts';
import {
  usageDays,
  usageEndUsers,
  usageHours,
  usageMark,
  usageModels,
} from '../../store/series-tables.ts';
import { upstreamCost } from './costs.ts';
import {
  addExcluded,
  dayOfRecord,
  endUserOfRecord,
  FIGURE_NAMES,
  hourOfRecord,
  modelOfRecord,
  rowOfRecord,
  type Series,
  sumsOfRecords,
} from './figures.ts';
import { prepareSeriesStatements, theMark } from './statements.ts';

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
  const inserts = prepareInserts(database);

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
        await inserts.run({ after, until });
        await moveMark.run({ until });
        return until - after;
      });
    },
  };
}

/** From the record after `after` to the one at `until`. */
type RecordRange = { readonly after: number; readonly until: number };

function prepareInserts({ db }: Database) {
  const inRange = and(
    gt(rowOfRecord, sql.placeholder('after')),
    lte(rowOfRecord, sql.placeholder('until')),
  );
  const { accountId, keyId } = usageRecords;
  const [hour, day] = [hourOfRecord, dayOfRecord];
  const [model, endUser] = [modelOfRecord, endUserOfRecord];
  const inserts = [
    insertSums(db, inRange, usageHours, { accountId, hour, model, keyId }),
    insertSums(db, inRange, usageDays, { accountId, day, model, keyId }),
    insertSums(db, inRange, usageEndUsers, { accountId, day, endUser }),
    insertSums(
      db,
      inRange,
      usageModels,
      { hour, model },
      {
        estimatedPromptTokens: sql`sum(${usageRecords.estimatedPromptTokens})`,
        upstreamCost: sql`0`,
        margin: sql`0`,
        uncosted: sql`0`,
      },
    ),
  ];
  // Last: it adds to the rows of the models.
  const addCosts = prepareCosts(db, inRange);
  return {
    async run(range: RecordRange): Promise<void> {
      for (const insert of inserts) await insert.run(range);
      await addCosts(range);
    },
  };
}

type Condition = ReturnType<typeof and>;

/**
 * Adds the records up into a series: by `group`, which is its primary key, in the order of its columns.
 * `more` is added up beside the figures.
 */
function insertSums(
  db: Database['db'],
  inRange: Condition,
  table: Series,
  group: Readonly<Record<string, SQLWrapper>>,
  more: Readonly<Record<string, SQL>> = {},
) {
  const columns: Readonly<Record<string, SQLiteColumn>> = getTableColumns(table);
  const named = (all: Readonly<Record<string, SQLWrapper>>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, sql`${value}`.as(name)]));
  return db
    .insert(table)
    .select(
      db
        .select({ ...named(group), ...sumsOfRecords, ...named(more) })
        .from(usageRecords)
        .where(inRange)
        .groupBy(...Object.values(group).map((value) => sql`${value}`)) as never,
    )
    .onConflictDoUpdate({
      target: Object.keys(group).flatMap((name) => columns[name] ?? []),
      set: addExcluded(columns as never, [...FIGURE_NAMES, ...Object.keys(more)]),
    })
    .prepare();
}

type Costs = { hour: number; model: string; cost: Micro; margin: Micro; uncosted: number };

/** The rows of the models are there already. */
function prepareCosts(db: Database['db'], inRange: Condition) {
  const attempts = db
    .select({
      hour: hourOfRecord,
      model: modelOfRecord,
      debited: usageRecords.debited,
      attempts: usageRecords.attempts,
    })
    .from(usageRecords)
    .where(inRange)
    .prepare();
  const value = sql.placeholder;
  const update = db
    .update(usageModels)
    .set({
      upstreamCost: sql`${usageModels.upstreamCost} + ${value('cost')}`,
      margin: sql`${usageModels.margin} + ${value('margin')}`,
      uncosted: sql`${usageModels.uncosted} + ${value('uncosted')}`,
    })
    .where(and(eq(usageModels.hour, value('hour')), eq(usageModels.model, value('model'))))
    .prepare();
  return async (range: RecordRange): Promise<void> => {
    const groups = new Map<string, Costs>();
    for (const { hour, model, debited, attempts: text } of await attempts.all(range)) {
      const name = `${hour} ${model}`;
      const sums = groups.get(name) ?? { hour, model, cost: ZERO, margin: ZERO, uncosted: 0 };
      groups.set(name, sums);
      const { total, isComplete } = upstreamCost(text);
      sums.cost = add(sums.cost, total);
      if (isComplete) sums.margin = add(sums.margin, subtract(debited, total));
      else sums.uncosted += 1;
    }
    for (const sums of groups.values()) await update.run(sums);
  };
}
