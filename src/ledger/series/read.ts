// Reads the usage of an account over time, by model, key or end user, for its pages. Includes
// records that are not rolled up, so numbers are exact at once. Read-only.

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
   * Where the buckets begin, ascending, and where the last one ends: whole UTC hours, or whole UTC
   * days where the series is by end user.
   */
  readonly edges: readonly number[];
  readonly groupBy: SeriesGroup;
};

/**
 * Groups are models, key ids or end users (empty: none in the request); without grouping there is
 * one empty group. A request counts for the hour in which it started, and for the model that served
 * or, if none did, the requested one.
 */
type ReadSeries = (query: SeriesQuery) => Promise<Buckets<Figures>>;

/**
 * `database` is migrated; `monotonic` is a clock in milliseconds that never jumps; default: the
 * process's own.
 */
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
  // PostgreSQL cannot group by a constant; within one account, this expression is one.
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
    // In key order without sorting, so a day with very many end users stops at the limit.
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
        // `unindexed`, so that the index by account is not used: it would read more than the last
        // rows.
        eq(unindexed(usageRecords.accountId), value('accountId')),
      ),
    )
    .prepare();
  return (range: OfAccount & TailRange) => tail.all(range);
}
