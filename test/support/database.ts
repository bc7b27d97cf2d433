// Real databases: SQLite files in a temporary directory, and databases of the PostgreSQL that all
// tests share. `describeOnEachDatabase` runs a group of tests on both.

import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, describe, spyOn, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { RemotePreparedQuery } from 'drizzle-orm/sqlite-proxy';
import { requestIdBytes } from '../../src/core/id.ts';
import { connectDatabase } from '../../src/store/connect.ts';
import type { Database, Dialect, Pipeline, Query } from '../../src/store/contract.ts';
import { openDatabase, type SqliteDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { newPostgresDatabase, postgresUrlOf } from './postgres-database.ts';
import { describeWithServices } from './services.ts';
import { TIER } from './tier.ts';

/** The database of the group that is collected or runs. */
let dialect: Dialect = 'sqlite';

/** What `newDatabase` makes now. */
export function testDialect(): Dialect {
  return dialect;
}

function use(kind: Dialect): void {
  dialect = kind;
}

/** Runs the group on SQLite and on PostgreSQL; on SQLite alone in the quick tier. */
export function describeOnEachDatabase(name: string, body: () => void | Promise<void>): void {
  const bodyOn = (kind: Dialect) => (): void | Promise<void> => {
    use(kind);
    beforeAll(() => use(kind));
    afterAll(() => use('sqlite'));
    return body();
  };
  describe(`${name} on SQLite`, bodyOn('sqlite'));
  if (TIER !== 'quick') {
    describeWithServices(`${name} on PostgreSQL`, ['PostgreSQL'], bodyOn('postgres'));
  }
}

/** A directory that is removed when the calling test file ends. Call it at the top of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * A new migrated database in `directory`, or the one of this name; the caller closes it. One of
 * PostgreSQL's has no `connection`: a test that needs one is about SQLite, and `sqliteTest` says so.
 */
export async function newDatabase(
  directory: string,
  name: string = crypto.randomUUID(),
): Promise<SqliteDatabase & AsyncDisposable> {
  const database = await openNew(directory, name);
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

async function openNew(directory: string, name: string): Promise<SqliteDatabase> {
  if (dialect === 'postgres') return newPostgresDatabase();
  const path = join(directory, `${name}.db`);
  if (!existsSync(path)) {
    migrated ??= migratedFile(directory);
    await Bun.write(path, await migrated, { mode: 0o600 });
  }
  return openDatabase({ url: `sqlite:${path}`, sync: 'normal' });
}

/** The bytes of a migrated database, of which the others are copies: migrating takes 15 ms. */
let migrated: Promise<Uint8Array> | undefined;

async function migratedFile(directory: string): Promise<Uint8Array> {
  const path = join(directory, 'migrated.db');
  const database = openDatabase({ url: `sqlite:${path}`, sync: 'normal' });
  await migrate(database);
  await database.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return bytes;
}

/** A second connection to a database of `newDatabase`, as another process has it. */
export function connectAgain(database: SqliteDatabase): Database {
  return connectDatabase({ url: urlOf(database), sync: 'normal' });
}

export function urlOf(database: SqliteDatabase): string {
  return dialect === 'postgres'
    ? postgresUrlOf(database)
    : `sqlite:${database.connection.filename}`;
}

/** Takes away the triggers that refuse what the books never do, so that a test may do it. */
export async function dropGuards(database: Database): Promise<void> {
  if (dialect === 'postgres') {
    for (const name of await tableNames(database)) {
      await tamper(database, `alter table "${name}" disable trigger user`);
    }
    return;
  }
  const triggers = await database.rows<{ name: string }>(
    sql`select name from sqlite_schema where type = 'trigger'`,
  );
  for (const { name } of triggers) await tamper(database, `drop trigger "${name}"`);
}

/** All that a database holds, for a test that something is not in it. */
export async function everyRow(database: Database): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const name of await tableNames(database)) {
    all.push(...(await database.rows(sql`select * from ${sql.identifier(name)}`)));
  }
  return all;
}

async function tableNames({ rows }: Database): Promise<readonly string[]> {
  const found = await rows<{ name: string }>(
    dialect === 'postgres'
      ? sql`select tablename as name from pg_tables where schemaname = 'public'`
      : sql`select name from sqlite_schema where type = 'table'`,
  );
  return found.map(({ name }) => name);
}

/**
 * Writes past everything but the tables' own guards, as a user of the database's own tool may. A
 * request id is written in braces: the database has it as bytes.
 */
export async function tamper({ db }: Database, statement: string): Promise<void> {
  const text = statement.replaceAll(/\{([\w-]+)\}/g, (_, requestId: string) => {
    const digits = requestIdBytes(requestId).toHex();
    return dialect === 'postgres' ? `'\\x${digits}'::bytea` : `x'${digits}'`;
  });
  await db.run(sql.raw(text));
}

/** How many queries of Drizzle's `work` runs, on every connection of this process. */
export async function countQueries(work: () => Promise<unknown>): Promise<number> {
  const spies = (['run', 'all', 'get', 'values'] as const).map((method) =>
    spyOn(RemotePreparedQuery.prototype, method),
  );
  try {
    await work();
    return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** A test of what only SQLite has; on PostgreSQL it is skipped, for the reason `why`. */
export function sqliteTest(why: string): typeof test {
  if (dialect === 'sqlite') return test;
  return ((name: string, ...rest: never[]) =>
    (test.skip as (name: string, ...rest: never[]) => void)(
      `${name} (${why})`,
      ...rest,
    )) as typeof test;
}

/** The same database, which fails like a disk where a row is inserted into one of its tables. */
export function failingAt(database: Database, table: string): Database {
  const inserts = (query: Query): boolean =>
    new RegExp(`insert (or fail )?into "?${table}"? `).test(query.toSQL().sql);
  function prepare<Values extends object, Row extends readonly unknown[]>(query: Query) {
    const statement = database.prepare<Values, Row>(query);
    return inserts(query) ? { ...statement, run: failStore } : statement;
  }
  const { pipeline } = database;
  const failing = { ...database, prepare, prepareWithin: prepare };
  if (pipeline === undefined) return failing;
  const prepareLast: Pipeline['prepareLast'] = (query) =>
    inserts(query) ? async () => failStore() : pipeline.prepareLast(query);
  return { ...failing, pipeline: { ...pipeline, prepareLast } };
}

/** Fails as a database does that cannot be written. */

function failStore(): never {
  using database = new Connection(':memory:');
  database.run('PRAGMA query_only = ON');
  database.run('CREATE TABLE t (x)');
  throw new Error('the database was written');
}
