// Bounds the rows that an account can make by naming end users: sums stay for ever, clients choose
// the names, and a request that costs nothing adds a row, too.

import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../../store/contract.ts';
import { usageEndUsers } from '../../store/series-tables.ts';
import type { RecordRange } from './statements.ts';
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

/** Above this many days of accounts, their sizes are forgotten and read again. */
const DAYS_MAX = 10_000;

/**
 * Returns the sums of a range of records with the name of all others in place of each end user for
 * whom the day has no room. For the transaction that writes them.
 */
export function createEndUserBound(database: Database, daySizeMax: number = DAY_SIZE_MAX) {
  const hasRow = prepareHasRow(database);
  const size = sql`coalesce(sum(length(${usageEndUsers.endUser}) + ${sql.raw(`${ROW_SIZE}`)}), 0)`;
  const readSize = database.db
    .select({ size: size.mapWith(Number) })
    .from(usageEndUsers)
    .where(isOfDay)
    .prepare();
  /** What the rows of each day take; where it is not exact, at most. */
  const days = new Map<string, { readonly size: number; readonly isExact: boolean }>();
  let rolledUpTo = 0;

  async function boundDay(day: string, sums: readonly RecordSum[]): Promise<readonly RecordSum[]> {
    const [first] = sums;
    if (first === undefined || sums.every(({ endUser }) => endUser === '')) return sums;
    const more = sums.reduce((all, sum) => all + sizeOf(sum), 0);
    let known = days.get(day);
    if (known === undefined || (!known.isExact && known.size + more > daySizeMax)) {
      known = { size: (await readSize.get(first))?.size ?? 0, isExact: true };
    }
    if (known.size + more <= daySizeMax) {
      // Some of them have a row already.
      days.set(day, { size: known.size + more, isExact: false });
      return sums;
    }
    const has = await Promise.all(sums.map(hasRow));
    let taken = known.size;
    const bounded = sums.map((sum, index) => {
      if (has[index] === true || sum.endUser === '') return sum;
      if (taken + sizeOf(sum) > daySizeMax) return { ...sum, endUser: OTHER_END_USERS };
      taken += sizeOf(sum);
      return sum;
    });
    days.set(day, { size: taken, isExact: true });
    return bounded;
  }

  return async (sums: readonly RecordSum[], range: RecordRange): Promise<readonly RecordSum[]> => {
    // Another process has rolled up, or our last step was rolled back.
    if (range.after !== rolledUpTo || days.size > DAYS_MAX) days.clear();
    rolledUpTo = range.until;
    const byDay = Map.groupBy(sums, ({ accountId, day }) => `${day} ${accountId}`);
    const bounded = byDay.entries().map(([day, own]) => boundDay(day, own));
    return sumsByEndUser((await Promise.all(bounded)).flat());
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

/** In code points, as SQL counts. */
function sizeOf({ endUser }: EndUserRow): number {
  return Array.from(endUser).length + ROW_SIZE;
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
