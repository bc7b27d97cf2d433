// `tollgate compact` on a real file whose rows were removed: what doctor says about the free space, that
// the file becomes smaller, and what the command refuses.

import { Database as Connection } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ownDatabase } from '../../src/store/owner.ts';
import { temporaryDirectory } from '../support/database.ts';
import { createTollgate, type Tollgate } from './tollgate.ts';

setDefaultTimeout(60_000);

const FILLER_BYTES = 20_000_000;

async function databaseDetail(tollgate: Tollgate): Promise<string | undefined> {
  const { stdout } = await tollgate.run('doctor', '--json');
  const checks = JSON.parse(stdout).checks as { readonly name: string; readonly detail: string }[];
  return checks.find(({ name }) => name === 'database')?.detail;
}

test('gives the space of removed rows back, and refuses while a server has the database', async () => {
  const directory = temporaryDirectory();
  const tollgate = createTollgate(directory);
  const database = join(directory, 'data/tollgate.db');
  for (const name of ['ann', 'bea']) {
    await tollgate.json('account', 'create', '--email', `${name}@example.com`, '--credit', '1000');
  }
  expect(await databaseDetail(tollgate)).toMatch(
    /^intact and writable; 0\.\d of its \d\.\d MB are free$/,
  );
  const accounts = await tollgate.json('account', 'list');
  const connection = new Connection(database);
  connection.run('CREATE TABLE filler (bytes blob)');
  connection.run('INSERT INTO filler VALUES (randomblob(?))', [FILLER_BYTES]);
  connection.run('DROP TABLE filler');
  connection.run('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
  const before = statSync(database).size;
  expect(before).toBeGreaterThan(FILLER_BYTES);
  expect(await databaseDetail(tollgate)).toMatch(
    /^intact and writable; 20\.\d of its 2\d\.\d MB are free, which tollgate compact gives back$/,
  );

  const release = ownDatabase(`sqlite:${database}`);
  expect(await tollgate.refusal('compact')).toEqual([1, 'database_unavailable']);
  expect(statSync(database).size).toBe(before);
  release();

  const { compact } = await tollgate.json('compact');
  const after = statSync(database).size;
  expect(compact).toEqual({ database, bytes_before: before, bytes_after: after });
  expect(after).toBeLessThan(before - FILLER_BYTES);
  expect(statSync(database).mode & 0o777).toBe(0o600);
  expect(await tollgate.json('account', 'list')).toEqual(accounts);
  const checked = await tollgate.run('doctor', '--json');
  const ledger = JSON.parse(checked.stdout).checks.find(
    ({ name }: { name: string }) => name === 'ledger',
  );
  expect(ledger.ok).toBe(true);
});

test('refuses PostgreSQL with what to use instead, and a file that is not there', async () => {
  const directory = temporaryDirectory();
  const url = 'postgres://user@127.0.0.1:1/none';
  const other = createTollgate(directory, { DATABASE_URL: url });
  expect(await other.refusal('compact')).toEqual([1, 'compact_unsupported']);
  expect(await createTollgate(directory).refusal('compact')).toEqual([1, 'database_unavailable']);
});
