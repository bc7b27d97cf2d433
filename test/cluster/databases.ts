// Several connections of one migrated database, for tests of nodes.

import { join } from 'node:path';
import { connectDatabase } from '../../src/store/connect.ts';
import type { Database, Dialect } from '../../src/store/contract.ts';
import { migrate } from '../../src/store/migrate.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { findPostgres } from '../support/postgres-server.ts';

/** Whoever opens them closes them all at once. */
export async function openDatabases(
  dialect: Dialect,
  directory: string,
  count: number,
): Promise<{ readonly databases: readonly Database[]; readonly close: () => Promise<void> }> {
  const url =
    dialect === 'postgres'
      ? await newPostgresUrl()
      : `sqlite:${join(directory, `${crypto.randomUUID()}.db`)}`;
  const databases = Array.from({ length: count }, () => connectDatabase({ url, sync: 'normal' }));
  const [first] = databases;
  if (first !== undefined && dialect === 'sqlite') await migrate(first);
  return {
    databases,
    async close() {
      for (const database of databases) await database.close();
    },
  };
}

/** PostgreSQL where this machine has it; without it, the reason is said once. */
export const DIALECTS: readonly Dialect[] =
  findPostgres() === undefined ? ['sqlite'] : ['sqlite', 'postgres'];

/** For the hook that opens them: the first one of a process starts a server. */
export const START_MS = 60_000;
