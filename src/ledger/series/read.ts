// Reads the usage of an account over time, by model, key or end user, for its pages. Includes
// records that are not rolled up, so numbers are exact at once. Read-only.

import { and, eq, or, sql } from 'drizzle-orm';
import { DAY_MS, type Span } from '../../core/calendar.ts';
import type { Database, Statement } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { unindexed } from '../../store/portable.ts';
import { usageDays, usageEndUsers, usageHours } from '../../store/series-tables.ts';
import { type Cut, PIECE_ROWS } from '../steps.ts';
import { type Buckets, createBucketReader, type SeriesPage } from './buckets.ts';
import { createEndUserNames } from './end-users.ts';
import {
  addFigures,
  type Figures,
  figuresAt,
  figuresOfRecord,
  HOUR_MS,
  modelOfRecord,
  sumsOf,
} from './figures.ts';
import {
  isInRange,
  placeAt,
  prepareCut,
  rangeValues,
  type SeriesPlace,
  type SeriesRange,
} from './places.ts';
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

/**
 * `database` is migrated; `monotonic` is a clock in milliseconds that never jumps; default: the
 * process's own. No statement sums more than `pageRows` rows.
 */
export function createSeriesReader(
  database: Database,
  monotonic?: () => number,
  pageRows: number = PIECE_ROWS,
): ReadSeries {
  const readBuckets = createBucketReader(database, monotonic);
  const pages = preparePages(database, pageRows);
  const tail = prepareTail(database);
  const endUserNames = createEndUserNames(database);
  return ({ accountId, edges, groupBy, only = {} }) => {
    const isByEndUser = isOfEndUsers(groupBy, only);
    const nameOf = endUserNames();
    return readBuckets<Figures>(edges, {
      add: addFigures,
      page: pages(accountId, groupBy, only),
      async *tail(rows) {
        for (const record of await tail({ accountId, ...rows })) {
          const { row, startedAt, model, requested, keyId, endUser: user, ...figures } = record;
          const place = {
            accountId,
            day: startedAt - (startedAt % DAY_MS),
            model,
            requested,
            keyId,
          };
          const endUser = isByEndUser ? await nameOf({ ...place, endUser: user ?? '' }) : '';
          if (!isWanted(only, { model, requested, key: keyId, endUser })) continue;
          const group = {
            total: '',
            model: `${model} ${requested}`,
            key: keyId,
            end_user: endUser,
          };
          const ofKey = [model, requested, keyId];
          const texts = isByEndUser ? [endUser, ...ofKey] : ofKey;
          yield { row, startedAt, texts, group: group[groupBy], figures };
        }
      },
    });
  };
}

function isOfEndUsers(groupBy: SeriesGroup, { endUser }: SeriesFilter): boolean {
  return groupBy === 'end_user' || endUser !== undefined;
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
  users: {
    table: usageEndUsers,
    key: [
      ...[usageEndUsers.day, usageEndUsers.endUser],
      ...[usageEndUsers.model, usageEndUsers.requested, usageEndUsers.keyId],
    ],
    rowMs: DAY_MS,
  },
  days: {
    table: usageDays,
    key: [usageDays.day, usageDays.model, usageDays.requested, usageDays.keyId],
    rowMs: DAY_MS,
  },
  hours: {
    table: usageHours,
    key: [usageHours.hour, usageHours.model, usageHours.requested, usageHours.keyId],
    rowMs: HOUR_MS,
  },
};

type TableName = keyof typeof TABLES;

const value = sql.placeholder;

/** The group, then its figures. */
type Row = readonly [group: string, ...figures: (number | bigint | string)[]];

function preparePages(database: Database, pageRows: number) {
  const cuts = new Map<TableName, ReturnType<typeof prepareCut>>();
  const groups = new Map<string, Statement<object, Row>>();

  function cutOf(name: TableName) {
    const { table, key } = TABLES[name];
    const isOwn = eq(table.accountId, value('accountId'));
    return cuts.getOrInsertComputed(name, () => prepareCut(database, table, key, isOwn, pageRows));
  }

  function groupsOf(name: TableName, groupBy: SeriesGroup, only: SeriesFilter) {
    const asked = Object.entries(only).filter(([, wanted]) => wanted !== undefined);
    const kind = [name, groupBy, ...asked.map(([filter]) => filter)].join(' ');
    return groups.getOrInsertComputed(kind, () =>
      database.prepare(groupQuery(database, name, groupBy, only)),
    );
  }

  /** The pages of one read. */
  return (accountId: string, groupBy: SeriesGroup, only: SeriesFilter) => {
    const { endUser } = only;
    const wholeCuts = new Map<TableName, Cut<SeriesPlace>>();
    const wholeCut = (name: TableName) =>
      wholeCuts.getOrInsertComputed(name, () =>
        cutOf(name)({ accountId }, placeAt(0, TABLES[name].key)),
      );

    return async (bucket: Span, before: SeriesPlace | undefined): Promise<SeriesPage<Figures>> => {
      const isDays = bucket.fromMs % DAY_MS === 0 && bucket.untilMs % DAY_MS === 0;
      const name = isOfEndUsers(groupBy, only) ? 'users' : isDays ? 'days' : 'hours';
      const { key, rowMs } = TABLES[name];
      const part =
        endUser === undefined
          ? { from: placeAt(bucket.fromMs, key), until: before ?? placeAt(bucket.untilMs, key) }
          : dayOf(endUser, before ?? behind(bucket.untilMs - DAY_MS, endUser));
      const cut = endUser === undefined ? wholeCut(name) : cutOf(name)({ accountId }, part.from);
      const from = await cut(part.from, part.until);
      const range = rangeValues({ from, until: part.until });
      const rows = await groupsOf(name, groupBy, only).all({ ...only, ...range, accountId });
      const hasDayBefore = endUser !== undefined && part.from[0] > bucket.fromMs;
      const dayBefore = hasDayBefore ? behind(part.from[0] - DAY_MS, endUser) : undefined;
      return {
        groups: rows.map((row) => ({ group: row[0], figures: figuresAt(row, 1) })),
        until: part.until,
        next: from === part.from ? dayBefore : from,
        rowMs,
      };
    };
  };
}

/** The rows of an end user in a day. Day by day, the key finds them among very many. */
function dayOf(endUser: string, until: SeriesPlace): SeriesRange {
  return { from: [until[0], endUser, '', '', ''], until };
}

/** Behind the rows of an end user in a day: no other end user lies between. */
function behind(dayMs: number, endUser: string): SeriesPlace {
  return [dayMs, `${endUser}\u0001`, '', '', ''];
}

function groupQuery({ db }: Database, name: TableName, groupBy: SeriesGroup, only: SeriesFilter) {
  const { table, key } = TABLES[name];
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
        isInRange(key),
        // `unindexed`, so that the range is searched for, which continues within an end user.
        only.endUser === undefined
          ? undefined
          : eq(unindexed(usageEndUsers.endUser), value('endUser')),
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
