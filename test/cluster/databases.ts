// Several connections of one migrated database, for tests of nodes.

import { afterAll, beforeAll, describe } from 'bun:test';
import { join } from 'node:path';
import { connectDatabase } from '../../src/store/connect.ts';
import type { Database, Dialect } from '../../src/store/contract.ts';
import { migrate } from '../../src/store/migrate.ts';
import { temporaryDirectory } from '../support/database.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { findPostgres } from '../support/postgres-server.ts';

/** PostgreSQL where this machine has it; without it, the reason is said once. */
const DIALECTS: readonly Dialect[] =
  findPostgres() === undefined ? ['sqlite'] : ['sqlite', 'postgres'];

/** The first database of a process starts a server; laws over many of them take long, too. */
export const START_MS = 60_000;

/** A group of tests on each kind of database, with `count` connections, which are closed at its end. */
export function describeOnDatabases(
  name: string,
  count: number,
  body: (connections: () => readonly Database[], dialect: Dialect) => void,
): void {
  describe.each(DIALECTS)(`${name} on %s`, (dialect) => {
    const directory = temporaryDirectory();
    let databases: readonly Database[] = [];

    beforeAll(async () => {
      databases = await openDatabases(dialect, directory, count);
    }, START_MS);
    afterAll(async () => {
      for (const database of databases) await database.close();
    });

    body(() => databases, dialect);
  });
}

async function openDatabases(
  dialect: Dialect,
  directory: string,
  count: number,
): Promise<readonly Database[]> {
  const url =
    dialect === 'postgres' ? await newPostgresUrl() : `sqlite:${join(directory, 'nodes.db')}`;
  const databases = Array.from({ length: count }, () => connectDatabase({ url, sync: 'normal' }));
  const [first] = databases;
  if (first !== undefined && dialect === 'sqlite') await migrate(first);
  return databases;
}
