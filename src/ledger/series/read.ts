// Reads the usage of an account over time, by model, key or end user, for its pages. Includes
// records that are not rolled up, so numbers are exact at once. Read-only.

import { and, eq, gte, lt, or, sql } from 'drizzle-orm';
import { DAY_MS, type Span } from '../../core/calendar.ts';
import type { Database, Statement } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { unindexed } from '../../store/portable.ts';
import { usageDays, usageEndUsers, usageHours } from '../../store/series-tables.ts';
import { type Buckets, createBucketReader } from './buckets.ts';
import { createEndUserNames } from './end-users.ts';
import {
  addFigures,
  type Figures,
  figuresAt,
  figuresOfRecord,
  modelOfRecord,
  sumsOf,
} from './figures.ts';
import { isInRows, type RecordRange } from './statements.ts';

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

/** `database` is migrated. */
export function createSeriesReader(database: Database): ReadSeries {
  const readBuckets = createBucketReader(database);
  const groupsOf = prepareGroups(database);
  const tail = prepareTail(database);
  const endUserNames = createEndUserNames(database);
  return ({ accountId, edges, groupBy, only = {} }) => {
    const isByEndUser = groupBy === 'end_user' || only.endUser !== undefined;
    const nameOf = endUserNames();
    return readBuckets<Figures>(edges, {
      add: addFigures,
      async bucket(span) {
        const statement = groupsOf(tableOf(span, isByEndUser), groupBy, only);
        const spans = only.endUser === undefined ? [span] : daysOf(span);
        const rows = await Promise.all(
          spans.map((each) => statement.all({ ...only, ...each, accountId })),
        );
        return rows.flat().map((row) => ({ group: row[0], figures: figuresAt(row, 1) }));
      },
      async *tail(rows) {
        for (const record of await tail({ accountId, ...rows })) {
          const { row, startedAt, model, requested, keyId, endUser: user, ...figures } = record;
          const day = startedAt - (startedAt % DAY_MS);
          const place = { accountId, day, model, requested, keyId, endUser: user ?? '' };
          const endUser = isByEndUser ? await nameOf(place) : '';
          if (!isWanted(only, { model, requested, key: keyId, endUser })) continue;
          const group = {
            total: '',
            model: `${model} ${requested}`,
            key: keyId,
            end_user: endUser,
          };
          yield { row, startedAt, group: group[groupBy], figures };
        }
      },
    });
  };
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

const TABLES = {
  users: { table: usageEndUsers, start: usageEndUsers.day },
  days: { table: usageDays, start: usageDays.day },
  hours: { table: usageHours, start: usageHours.hour },
};

type TableName = keyof typeof TABLES;

function tableOf({ fromMs, untilMs }: Span, isByEndUser: boolean): TableName {
  if (isByEndUser) return 'users';
  return fromMs % DAY_MS === 0 && untilMs % DAY_MS === 0 ? 'days' : 'hours';
}

/** One day at a time, the key finds an end user among very many. */
function daysOf({ fromMs, untilMs }: Span): Span[] {
  const days = Math.ceil((untilMs - fromMs) / DAY_MS);
  return Array.from({ length: days }, (_, day) => ({
    fromMs: fromMs + day * DAY_MS,
    untilMs: fromMs + (day + 1) * DAY_MS,
  }));
}

const value = sql.placeholder;

/** The group, then its figures. */
type Row = readonly [group: string, ...figures: (number | bigint | string)[]];

function prepareGroups(database: Database) {
  const prepared = new Map<string, Statement<object, Row>>();
  return (name: TableName, groupBy: SeriesGroup, only: SeriesFilter) => {
    const asked = Object.entries(only).filter(([, wanted]) => wanted !== undefined);
    const kind = [name, groupBy, ...asked.map(([filter]) => filter)].join(' ');
    return prepared.getOrInsertComputed(kind, () =>
      database.prepare(groupQuery(database, name, groupBy, only)),
    );
  };
}

function groupQuery({ db }: Database, name: TableName, groupBy: SeriesGroup, only: SeriesFilter) {
  const { table, start } = TABLES[name];
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
        ...(only.endUser === undefined
          ? [gte(start, value('fromMs')), lt(start, value('untilMs'))]
          : [eq(start, value('fromMs')), eq(usageEndUsers.endUser, value('endUser'))]),
        only.model === undefined
          ? undefined
          : or(eq(table.model, value('model')), eq(table.requested, value('model'))),
        only.keyId === undefined ? undefined : eq(table.keyId, value('keyId')),
      ),
    )
    .groupBy(group);
}

function prepareTail({ db }: Database) {
  const tail = db
    .select({
      row: usageRecords.number,
      startedAt: usageRecords.startedAt,
      model: modelOfRecord,
      requested: usageRecords.modelRequested,
      keyId: usageRecords.keyId,
      endUser: usageRecords.endUser,
      ...figuresOfRecord,
    })
    .from(usageRecords)
    .where(
      and(
        isInRows(usageRecords.number),
        // `unindexed`, so that the index by account is not used: it would read more than the last
        // rows.
        eq(unindexed(usageRecords.accountId), value('accountId')),
      ),
    )
    .prepare();
  return (range: RecordRange & { readonly accountId: string }) => tail.all(range);
}
