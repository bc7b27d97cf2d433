// Reads the usage of an account over time, by model, key or end user, for its pages. Includes
// records that are not rolled up, so numbers are exact at once. Read-only.

import { and, eq, gt, gte, lt, lte, or, sql } from 'drizzle-orm';
import { DAY_MS } from '../../core/calendar.ts';
import type { Database, Statement } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { unindexed } from '../../store/portable.ts';
import { usageDays, usageEndUsers, usageHours } from '../../store/series-tables.ts';
import { type BucketRange, type Buckets, createBucketReader, type TailRange } from './buckets.ts';
import {
  addFigures,
  type Figures,
  figuresAt,
  figuresOfRecord,
  modelOfRecord,
  sumsOf,
} from './figures.ts';

export type SeriesGroup = 'total' | 'model' | 'key' | 'end_user';

export type SeriesFilter = {
  /** The model that served or the requested one. */
  readonly model?: string | undefined;
  readonly keyId?: string | undefined;
  /** Empty: requests without an end user. */
  readonly endUser?: string | undefined;
};

type SeriesQuery = {
  readonly accountId: string;
  /**
   * Where the buckets begin, ascending, and where the last one ends: whole UTC hours, or whole UTC
   * days where the series is by end user or of one.
   */
  readonly edges: readonly number[];
  readonly groupBy: SeriesGroup;
  readonly only?: SeriesFilter;
};

/**
 * Groups are models, key ids or end users (empty: none in the request); without grouping there is
 * one empty group. A request counts for the hour in which it started. The group of a model is the
 * one that served (if none did, the requested one), a space, and the requested one.
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
  return ({ accountId, edges, groupBy, only = {} }) =>
    readBuckets<Figures>(edges, {
      add: addFigures,
      groups: async (range) =>
        (await groups(groupBy, only, { accountId, ...range })).map((row) => ({
          group: row[0],
          figures: figuresAt(row, 1),
        })),
      async *tail(rows) {
        for (const record of await tail({ accountId, ...rows })) {
          const { row, startedAt, model, requested, key, endUser: user, ...figures } = record;
          const endUser = user ?? '';
          if (!isWanted(only, { model, requested, key, endUser })) continue;
          const group = { total: '', model: `${model} ${requested}`, key, end_user: endUser };
          yield { row, startedAt, group: group[groupBy], figures };
        }
      },
    });
}

function isWanted(
  { model, keyId, endUser }: SeriesFilter,
  of: Readonly<Record<'model' | 'requested' | 'key' | 'endUser', string>>,
): boolean {
  return (
    (model === undefined || model === of.model || model === of.requested) &&
    (keyId === undefined || keyId === of.key) &&
    (endUser === undefined || endUser === of.endUser)
  );
}

type Asked = SeriesFilter & BucketRange & { readonly accountId: string };

const value = sql.placeholder;

/** The group, then its figures. */
type Row = readonly [group: string, ...figures: (number | bigint | string)[]];

function prepareGroups(database: Database) {
  const prepared = new Map<string, Statement<Asked, Row>>();
  return async (
    groupBy: SeriesGroup,
    only: SeriesFilter,
    range: BucketRange & { readonly accountId: string },
  ): Promise<readonly Row[]> => {
    const ofEndUser = groupBy === 'end_user' || only.endUser !== undefined;
    const isDays = range.fromMs % DAY_MS === 0 && range.untilMs % DAY_MS === 0;
    const table = ofEndUser ? 'users' : isDays ? 'days' : 'hours';
    const asked = Object.entries(only).filter(([, wanted]) => wanted !== undefined);
    const name = [table, groupBy, ...asked.map(([filter]) => filter)].join(' ');
    const statement = prepared.getOrInsertComputed(name, () =>
      database.prepare(groupQuery(database, table, groupBy, only)),
    );
    if (!ofEndUser) return statement.all({ ...only, ...range });
    const rows: Row[] = [];
    // Day by day, so that the key finds one end user among very many.
    for (let fromMs = range.fromMs; fromMs < range.untilMs; fromMs += DAY_MS) {
      const limit = range.limit - rows.length;
      rows.push(...(await statement.all({ ...only, ...range, fromMs, limit })));
    }
    return rows;
  };
}

function groupQuery(
  { db }: Database,
  name: 'users' | 'days' | 'hours',
  groupBy: SeriesGroup,
  only: SeriesFilter,
) {
  const table = { users: usageEndUsers, days: usageDays, hours: usageHours }[name];
  const start = table === usageHours ? usageHours.hour : (table as typeof usageDays).day;
  const group = {
    // PostgreSQL cannot group by a constant; within one account, this expression is one.
    total: sql`substr(${table.accountId}, 1, 0)`,
    model: sql`${table.model} || ' ' || ${table.requested}`,
    key: sql`${table.keyId}`,
    end_user: sql`${usageEndUsers.endUser}`,
  }[groupBy];
  return db
    .select({ group: sql<string>`${group}`, ...sumsOf(table) })
    .from(table)
    .where(
      and(
        eq(table.accountId, value('accountId')),
        ...(name === 'users'
          ? [eq(start, value('fromMs'))]
          : [gte(start, value('fromMs')), lt(start, value('untilMs'))]),
        only.endUser === undefined ? undefined : eq(usageEndUsers.endUser, value('endUser')),
        only.model === undefined
          ? undefined
          : or(eq(table.model, value('model')), eq(table.requested, value('model'))),
        only.keyId === undefined ? undefined : eq(table.keyId, value('keyId')),
      ),
    )
    .groupBy(group)
    .limit(value('limit'));
}

function prepareTail({ db }: Database) {
  const tail = db
    .select({
      row: usageRecords.number,
      startedAt: usageRecords.startedAt,
      model: modelOfRecord,
      requested: usageRecords.modelRequested,
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
  return (range: TailRange & { readonly accountId: string }) => tail.all(range);
}
