// What an account has used over time, by model, key or end user, for its pages. Numbers are exact at
// once: the series and the records that are not in them yet. It only reads.

import { and, eq, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../core/calendar.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { unindexed } from '../../store/portable.ts';
import { usageDays, usageEndUsers, usageHours } from '../../store/series-tables.ts';
import { type BucketRange, type Buckets, createBucketReader, type TailRange } from './buckets.ts';
import {
  addFigures,
  type Figures,
  figuresAt,
  figuresOf,
  figuresOfRecord,
  modelOfRecord,
  sumsOf,
} from './figures.ts';

export type SeriesGroup = 'total' | 'model' | 'key' | 'end_user';

type SeriesQuery = {
  readonly accountId: string;
  /**
   * Where the buckets begin, ascending, and where the last one ends: whole UTC hours, and whole UTC
   * days where the series is by end user.
   */
  readonly edges: readonly number[];
  readonly groupBy: SeriesGroup;
};

/**
 * Groups are models, ids of keys, or end users (empty: the request named none); there is one empty
 * one where nothing is grouped. A request counts for the hour in which it started, and for the model
 * that served it or, where none did, was asked for.
 */
type ReadSeries = (query: SeriesQuery) => Promise<Buckets<Figures>>;

/** `database` is migrated; `monotonic` are milliseconds of a clock that never jumps, the process's own where absent. */
export function createSeriesReader(database: Database, monotonic?: () => number): ReadSeries {
  const readBuckets = createBucketReader(database, monotonic);
  const groups = prepareGroups(database);
  const tail = prepareTail(database);
  return ({ accountId, edges, groupBy }) =>
    readBuckets<Figures>(edges, {
      add: addFigures,
      groups: async (range) =>
        (await groups(groupBy, { accountId, ...range })).map((row) => ({
          group: row[0],
          figures: figuresAt(row, 1),
        })),
      async *tail(rows) {
        for (const record of await tail({ accountId, ...rows })) {
          const { row, startedAt, model, key, endUser, ...figures } = record;
          const group = { total: '', model, key, end_user: endUser ?? '' }[groupBy];
          yield { row, startedAt, group, figures };
        }
      },
    });
}

type OfAccount = { readonly accountId: string };

const value = sql.placeholder;

function prepareGroups(database: Database) {
  const byHour = prepareSpans(database, usageHours, usageHours.hour);
  const byDay = prepareSpans(database, usageDays, usageDays.day);
  const endUsers = prepareEndUsers(database);
  return async (groupBy: SeriesGroup, range: OfAccount & BucketRange): Promise<readonly Row[]> => {
    if (groupBy === 'end_user') return endUsers.all(range);
    const isDays = range.fromMs % DAY_MS === 0 && range.untilMs % DAY_MS === 0;
    return (isDays ? byDay : byHour)[groupBy].all(range);
  };
}

/** The group, then its figures. */
type Row = readonly [group: string, ...figures: (number | bigint)[]];

function prepareSpans(
  database: Database,
  table: typeof usageHours | typeof usageDays,
  start: SQLiteColumn,
) {
  const by = (group: SQLiteColumn | SQL<string>) =>
    database.prepare<OfAccount & BucketRange, Row>(
      database.db
        .select({ group: sql<string>`${group}`, ...sumsOf(table) })
        .from(table)
        .where(
          and(
            eq(table.accountId, value('accountId')),
            gte(start, value('fromMs')),
            lt(start, value('untilMs')),
          ),
        )
        .groupBy(group)
        .limit(value('limit')),
    );
  // PostgreSQL groups by no constant: of one account, this is one.
  const nothing = sql<string>`substr(${table.accountId}, 1, 0)`;
  return { total: by(nothing), model: by(table.model), key: by(table.keyId) };
}

function prepareEndUsers(database: Database) {
  const query = database.db
    .select({ group: usageEndUsers.endUser, ...figuresOf(usageEndUsers) })
    .from(usageEndUsers)
    .where(
      and(
        eq(usageEndUsers.accountId, value('accountId')),
        gte(usageEndUsers.day, value('fromMs')),
        lt(usageEndUsers.day, value('untilMs')),
      ),
    )
    // Row by row, in the order of the key: a day of very many end users is left at the limit.
    .limit(value('limit'));
  return database.prepare<OfAccount & BucketRange, Row>(query);
}

function prepareTail({ db }: Database) {
  const tail = db
    .select({
      row: usageRecords.number,
      startedAt: usageRecords.startedAt,
      model: modelOfRecord,
      key: usageRecords.keyId,
      endUser: usageRecords.endUser,
      ...figuresOfRecord,
    })
    .from(usageRecords)
    .where(
      and(
        gt(usageRecords.number, value('after')),
        lte(usageRecords.number, value('until')),
        // Unindexed, the index by account is not taken: the last rows are fewer than its own.
        eq(unindexed(usageRecords.accountId), value('accountId')),
      ),
    )
    .prepare();
  return (range: OfAccount & TailRange) => tail.all(range);
}
