// Databases of the shared PostgreSQL, each a copy of one that was migrated once. Copying takes as
// long as a test, so closed databases are emptied and reused.

import { sql } from 'drizzle-orm';
import type { Database } from '../../src/store/contract.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres/database.ts';
import { sharedServer } from './postgres-server.ts';

const TEMPLATE = 'migrated';

/** As the administrator: the triggers that keep the books append-only are off in this session. */
const EMPTY = `do $$ declare it record; begin
  set local session_replication_role = replica;
  for it in select tablename as name from pg_tables
    where schemaname = 'public' and tablename <> 'usage_mark' loop
    execute format('alter table %I enable trigger user', it.name);
    execute format('delete from %I', it.name);
  end loop;
  update usage_mark set last_record = 0;
  for it in select sequencename as name from pg_sequences
    where schemaname = 'public' and last_value is not null loop
    execute format('alter sequence %I restart', it.name);
  end loop;
end $$`;

let server: Promise<string> | undefined;
const closed: string[] = [];
const urls = new WeakMap<Database, string>();

/** A new migrated database; the caller closes it. */
export async function newPostgresDatabase(): Promise<SqliteDatabase> {
  const url = await newPostgresUrl();
  const database = openPostgres({ url });
  const closing = {
    ...database,
    async close() {
      await database.close();
      closed.push(url);
    },
  };
  // Not enumerable, so that the rest of it can be spread.
  const given: SqliteDatabase = Object.defineProperty(closing, 'connection', {
    get: noConnection,
  }) as never;
  urls.set(given, url);
  return given;
}

export function postgresUrlOf(database: Database): string {
  return urls.get(database) ?? '';
}

function noConnection(): never {
  throw new Error('This test needs the connection of SQLite: make it a sqliteTest.');
}

/** Where a new migrated database is. */
export async function newPostgresUrl(): Promise<string> {
  server ??= prepareServer();
  const url = await server;
  const used = closed.pop();
  if (used !== undefined) {
    await asAdministrator(used, EMPTY);
    return used;
  }
  const name = `copy_${crypto.randomUUID().replaceAll('-', '')}`;
  await asAdministrator(url, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  return urlOf(url, name);
}

/** The shared server with its template, which the first process that needs it makes. */
export async function prepareServer(): Promise<string> {
  const url = await sharedServer();
  const found = await asAdministrator(
    url,
    `select 1 from pg_database where datname = '${TEMPLATE}'`,
  );
  if (found.length > 0) return url;
  await asAdministrator(url, `create database ${TEMPLATE}`);
  const database = openPostgres({ url: urlOf(url, TEMPLATE) });
  await migrate(database);
  await database.close();
  return url;
}

async function asAdministrator(url: string, statement: string): Promise<readonly unknown[]> {
  const database: Database = openPostgres({ url, max: 1, statementTimeoutMs: 20_000 });
  return database.rows(sql.raw(statement)).finally(database.close);
}

function urlOf(server: string, name: string): string {
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}
