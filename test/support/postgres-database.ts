// Databases of the one PostgreSQL of a test process, each a copy of one that was migrated once. The
// server starts with the first of them, and is stopped by its guardian when the process has ended.

import { sql } from 'drizzle-orm';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres/database.ts';
import { type PostgresServer, startPostgres } from './services.ts';

const TEMPLATE = 'migrated';

let server: Promise<PostgresServer> | undefined;
let databases = 0;

/** A new migrated database; the caller closes it. */
export async function newPostgresDatabase(): Promise<SqliteDatabase> {
  const database = openPostgres({ url: await newPostgresUrl() });
  return {
    ...database,
    get connection(): never {
      throw new Error('This test needs the connection of SQLite: make it a sqliteTest.');
    },
  };
}

/** Where a new migrated database is. */
export async function newPostgresUrl(): Promise<string> {
  server ??= startWithTemplate();
  const { url } = await server;
  databases += 1;
  const name = `copy_${databases}`;
  await asAdministrator(url, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  return urlOf(url, name);
}

async function startWithTemplate(): Promise<PostgresServer> {
  const started = await startPostgres({ settings: { max_connections: '400' } });
  await asAdministrator(started.url, `create database ${TEMPLATE}`);
  const database = openPostgres({ url: urlOf(started.url, TEMPLATE) });
  await migrate(database);
  await database.close();
  return started;
}

async function asAdministrator(url: string, statement: string): Promise<void> {
  const database = openPostgres({ url, max: 1, statementTimeoutMs: 20_000 });
  await database.db.run(sql.raw(statement)).finally(database.close);
}

function urlOf(server: string, name: string): string {
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}
