// A sweep that finds nothing takes no lock, so it neither waits for one nor delays others.

import { Database as Connection } from 'bun:sqlite';
import { expect, spyOn } from 'bun:test';
import { eq, lt } from 'drizzle-orm';
import { openDatabase } from '../../src/store/database.ts';
import { sqliteCode } from '../../src/store/error.ts';
import { sweepTable } from '../../src/store/sweep.ts';
import { reasoning, settings } from '../../src/store/tables.ts';
import {
  countQueries,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
  urlOf,
} from '../support/database.ts';

const directory = temporaryDirectory();
const test = sqliteTest('PostgreSQL locks rows');

test('a sweep of nothing runs beside a lock, and one of something removes just that', async () => {
  const first = await newDatabase(directory);
  await first.db.insert(settings).values({ name: 'new', value: '', updatedAt: 10 });
  const database = openDatabase({ url: urlOf(first), sync: 'normal', waits: false });
  const sweep = () => sweepTable(database, settings, lt(settings.updatedAt, 5));
  using other = new Connection(first.connection.filename);
  other.run('BEGIN IMMEDIATE');
  await sweep();
  other.run('COMMIT');
  await first.db.insert(settings).values({ name: 'old', value: '', updatedAt: 1 });
  other.run('BEGIN IMMEDIATE');
  const failure = await sweep().catch(sqliteCode);
  other.run('COMMIT');
  expect(failure).toBe('SQLITE_BUSY');
  await sweep();
  const left = await database.db.select().from(settings);
  expect(left.map(({ name }) => name)).toEqual(['new']);
  await Promise.all([first.close(), database.close()]);
});

test('a sweep of many rows removes at most 1,000 in one statement', async () => {
  await using database = await newDatabase(directory);
  for (const from of [0, 1_000, 2_000]) {
    const names = Array.from({ length: 1_000 }, (_, at) => `${from + at}`);
    const rows = names.map((name) => ({ name, value: '', updatedAt: from < 2_000 ? 1 : 10 }));
    await database.db.insert(settings).values(rows);
  }
  const statements = await countQueries(() =>
    sweepTable(database, settings, lt(settings.updatedAt, 5)),
  );
  // A read before each of two steps, and one that finds no more.
  expect(statements).toBe(5);
  expect(await database.db.select().from(settings)).toHaveLength(1_000);
});

test('a step finds its rows by their keys, and does not read all rows of an account', async () => {
  await using database = await newDatabase(directory);
  const row = { accountId: 'acct_a', digest: Buffer.from('d'), sealed: Buffer.from('s') };
  await database.db.insert(reasoning).values({ ...row, createdAt: 1, size: 1 });
  const queries = spyOn(database.connection, 'query');
  await sweepTable(database, reasoning, eq(reasoning.accountId, 'acct_a'));
  const step = queries.mock.calls.flat().find((text) => text.startsWith('delete'));
  queries.mockRestore();
  const plan = database.connection
    .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${step}`)
    .all('acct_a', 1_000, 'acct_a');
  expect(plan[0]?.detail).toStartWith('SEARCH reasoning USING INTEGER PRIMARY KEY');
  expect(await database.db.select().from(reasoning)).toEqual([]);
});
