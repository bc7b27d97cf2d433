// Real SQLite files in a directory of their own, which goes when the test file ends.

import { Database as Connection } from 'bun:sqlite';
import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type SqliteDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';

/** A directory that is removed when the calling test file ends. Call it at the top of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A new migrated database in `directory`; the caller closes it. */
export async function newDatabase(
  directory: string,
  name: string = crypto.randomUUID(),
): Promise<SqliteDatabase> {
  const database = openDatabase({ url: `sqlite:${join(directory, `${name}.db`)}`, sync: 'normal' });
  await migrate(database);
  return database;
}

/** Fails as a database does that cannot be written. */
export function failStore(): never {
  using database = new Connection(':memory:');
  database.run('PRAGMA query_only = ON');
  database.run('CREATE TABLE t (x)');
  throw new Error('the database was written');
}
