// Bounds the rows that an account can make by naming end users: sums stay for ever, clients choose
// the names, and a request that costs nothing adds a row, too.

import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../../store/contract.ts';
import { usageEndUsers } from '../../store/series-tables.ts';
import { type RecordSum, sumsByEndUser } from './sums.ts';

/** The name under which a day without room sums further end users. */
export const OTHER_END_USERS = '(others)';

/** Characters of an account in a UTC day: some 5,000 end users that are named by a UUID. */
const DAY_SIZE_MAX = 512 * 1_024;

/** What a row counts for beside its name. */
const ROW_SIZE = 64;

/** What identifies a row. */
type EndUserRow = Pick<
  RecordSum,
  'accountId' | 'day' | 'endUser' | 'model' | 'requested' | 'keyId'
>;

const value = sql.placeholder;
const isOfDay = and(
  eq(usageEndUsers.accountId, value('accountId')),
  eq(usageEndUsers.day, value('day')),
);
const isNamed = and(isOfDay, eq(usageEndUsers.endUser, value('endUser')));

/**
 * Returns the sums with the name of all others in place of each end user for whom the day has no
 * room. For the transaction that writes them.
 */
export function createEndUserBound(database: Database, daySizeMax: number = DAY_SIZE_MAX) {
  const hasRow = prepareHasRow(database);
  const size = sql`coalesce(sum(length(${usageEndUsers.endUser}) + ${sql.raw(`${ROW_SIZE}`)}), 0)`;
  const taken = database.db
    .select({ size: size.mapWith(Number) })
    .from(usageEndUsers)
    .where(isOfDay)
    .prepare();

  async function boundDay(sums: readonly RecordSum[]): Promise<readonly RecordSum[]> {
    const [first] = sums;
    if (first === undefined || sums.every(({ endUser }) => endUser === '')) return sums;
    let room = daySizeMax - ((await taken.get(first))?.size ?? 0);
    if (sums.reduce((all, sum) => all + sizeOf(sum), 0) <= room) return sums;
    const known = await Promise.all(sums.map(hasRow));
    return sums.map((sum, index) => {
      if (known[index] === true || sum.endUser === '') return sum;
      if (room < sizeOf(sum)) return { ...sum, endUser: OTHER_END_USERS };
      room -= sizeOf(sum);
      return sum;
    });
  }

  return async (sums: readonly RecordSum[]): Promise<readonly RecordSum[]> => {
    const days = Map.groupBy(sums, ({ accountId, day }) => `${day} ${accountId}`);
    return sumsByEndUser((await Promise.all(days.values().map(boundDay))).flat());
  };
}

/**
 * Returns the end user under whom the series sums a record, for one read: rows are never removed, so
 * a record whose row is missing in a day without room is among the others.
 */
export function createEndUserNames(database: Database) {
  const hasRow = prepareHasRow(database);
  const others = database.db
    .select({ day: usageEndUsers.day })
    .from(usageEndUsers)
    .where(isNamed)
    .limit(1)
    .prepare();

  return () => {
    const days = new Map<number, Promise<boolean>>();
    return async (row: EndUserRow): Promise<string> => {
      const hasOthers = days.getOrInsertComputed(row.day, async () => {
        const found = await others.get({ ...row, endUser: OTHER_END_USERS });
        return found !== undefined;
      });
      if (row.endUser === '' || !(await hasOthers) || (await hasRow(row))) return row.endUser;
      return OTHER_END_USERS;
    };
  };
}

function sizeOf({ endUser }: EndUserRow): number {
  return endUser.length + ROW_SIZE;
}

function prepareHasRow({ db }: Database) {
  const found = db
    .select({ day: usageEndUsers.day })
    .from(usageEndUsers)
    .where(
      and(
        isNamed,
        eq(usageEndUsers.model, value('model')),
        eq(usageEndUsers.requested, value('requested')),
        eq(usageEndUsers.keyId, value('keyId')),
      ),
    )
    .prepare();
  return async (row: EndUserRow): Promise<boolean> => (await found.get(row)) !== undefined;
}
