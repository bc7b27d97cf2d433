// Databases of the one PostgreSQL of a test process, each a copy of one that was migrated once. To
// copy takes as long as a test, so one that was closed is emptied and used again. The server starts
// with the first of them, and is stopped by its guardian when the process has ended.

import { sql } from 'drizzle-orm';
import type { Database } from '../../src/store/contract.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres/database.ts';
import { type PostgresServer, startPostgres } from './services.ts';

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

let server: Promise<PostgresServer> | undefined;
let databases = 0;
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
  server ??= startWithTemplate();
  const { url } = await server;
  const used = closed.pop();
  if (used !== undefined) {
    await asAdministrator(used, EMPTY);
    return used;
  }
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
  const database: Database = openPostgres({ url, max: 1, statementTimeoutMs: 20_000 });
  await database.db.run(sql.raw(statement)).finally(database.close);
}

function urlOf(server: string, name: string): string {
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}
