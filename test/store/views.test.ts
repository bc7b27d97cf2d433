// The ledger's views reach the rows of the tables by an index, which millions of rows require.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const directory = temporaryDirectory();

let database: SqliteDatabase;
beforeAll(async () => {
  database = await newDatabase(directory);
});
afterAll(() => database.close());

const OF_ACCOUNT = 'SEARCH r USING INDEX requests_account';
const BY_NUMBER = 'SEARCH r USING INTEGER PRIMARY KEY';

test.each([
  [
    'a span of an account, newest first',
    `usage_records where account_id = ?1 and started_at >= ?2 and started_at < ?3
      order by started_at desc, number desc limit 10`,
    `${OF_ACCOUNT} (account=? AND started_at>? AND started_at<?)`,
  ],
  ['any request of an account', 'usage_records where account_id = ?1 limit 1', OF_ACCOUNT],
  [
    'records by their numbers',
    'usage_records where number > ?1 and number <= ?2',
    `${BY_NUMBER} (rowid>? AND rowid<?)`,
  ],
  [
    'the last records',
    'usage_records where number < ?1 order by number desc limit 10',
    `${BY_NUMBER} (rowid<?)`,
  ],
  [
    'records of an account among the last ones',
    "usage_records where number > ?1 and account_id || '' = ?2",
    `${BY_NUMBER} (rowid>?)`,
  ],
  [
    'request ids that begin alike, newest first',
    `usage_records where request_id between ?1 and ?2 and account_id || '' = ?3
      order by request_id desc limit 10`,
    'SEARCH r USING INDEX requests_id (id>? AND id<?)',
  ],
  ['one request', 'usage_records where request_id = ?1', 'SEARCH r USING INDEX requests_id (id=?)'],
  [
    'open holds of an account',
    'holds where account_id = ?1',
    'SEARCH h USING INDEX open_holds_account (account=?)',
  ],
])('%s are found by an index', (_name, asked, step) => {
  const plan = database.connection
    .query<{ detail: string }, []>(`explain query plan select * from ${asked}`)
    .all()
    .map(({ detail }) => detail);
  expect(plan.filter((each) => each.startsWith(step))).toHaveLength(1);
  expect(plan.filter((each) => /^SCAN|TEMP B-TREE/.test(each))).toEqual([]);
});

test('rows that are found by their key alone are stored in its order', async () => {
  const { db } = database;
  const rows = await db.all<[string]>(
    sql`select name from sqlite_schema where sql like '%WITHOUT ROWID' order by name`,
  );
  expect(rows.map(([name]) => name)).toEqual([
    'open_holds',
    'usage_accounts',
    'usage_days',
    'usage_end_users',
    'usage_hours',
    'usage_models',
    'usage_speeds',
  ]);
});

test('triggers on the path of every request roll the transaction back: SQLite then copies no pages', async () => {
  const { db } = database;
  const rows = await db.all<[string]>(
    sql`select name from sqlite_schema where type = 'trigger' and sql like '%RAISE(ROLLBACK%' order by name`,
  );
  expect(rows.map(([name]) => name)).toEqual([
    'balances_forward',
    'open_holds_begin',
    'open_holds_end',
    'open_holds_forward',
  ]);
});
