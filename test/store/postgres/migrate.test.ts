// The migrations of PostgreSQL: the list, the lock, the refusals, and that they create every table.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { is, sql } from 'drizzle-orm';
import { getTableConfig as getPostgresTable, PgTable } from 'drizzle-orm/pg-core';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import * as schema from '../../../scripts/postgres-schema.ts';
import type { Database } from '../../../src/store/contract.ts';
import {
  droppedTriggers,
  migrate,
  migrationPlan,
  migrationStatus,
} from '../../../src/store/migrate.ts';
import { MIGRATIONS } from '../../../src/store/migrations.ts';
import { openPostgres } from '../../../src/store/postgres/database.ts';
import {
  describeWithServices,
  type PostgresServer,
  startPostgres,
} from '../../support/services.ts';
import { viewColumns } from '../../support/view-columns.ts';

const FOLDER = join(import.meta.dir, '../../../drizzle/postgres');
const STORE = join(import.meta.dir, '../../../src/store');
const ALL = MIGRATIONS.postgres;
const TAGS = ALL.map(({ tag }) => tag);
const LATER = { tag: '9999_later', when: 9_999_999_999_999, sql: 'CREATE TABLE later (id text)' };

describe('the migrations', () => {
  test('are the folder and its journal', () => {
    const journal: unknown = JSON.parse(readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8'));
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'));
    expect(files.sort()).toEqual(TAGS.map((tag) => `${tag}.sql`));
    expect(journal).toMatchObject({ entries: ALL.map(({ tag, when }) => ({ tag, when })) });
    for (const { tag, sql: text } of ALL) {
      expect(text).toBe(readFileSync(join(FOLDER, `${tag}.sql`), 'utf8'));
    }
  });

  test('are of every table, with every column of it', async () => {
    const files = readdirSync(STORE).filter((file) => file.endsWith('tables.ts'));
    const modules = await Promise.all(files.map((file) => import(join(STORE, file))));
    const ours = modules
      .flatMap((module) => Object.values<unknown>(module))
      .filter((value) => is(value, SQLiteTable))
      .map(getTableConfig);
    const theirs = Object.values<unknown>(schema)
      .filter((value) => is(value, PgTable))
      .map(getPostgresTable);
    const named = (tables: readonly { name: string; columns: readonly { name: string }[] }[]) =>
      tables
        .map(({ name, columns }) => {
          const names = columns.map((column) => column.name).filter((own) => own !== 'rowid');
          return `${name}: ${names}`;
        })
        .sort();
    expect(named(theirs)).toEqual(named(ours));
  });
});

describeWithServices('migrate', ['PostgreSQL'], () => {
  let server: PostgresServer;
  const opened: Database[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    for (const database of opened) await database.close();
    await server.stop();
  });

  async function emptyDatabase(connections = 1): Promise<Database[]> {
    const url = await server.createDatabase();
    const all = Array.from({ length: connections }, () => openPostgres({ url }));
    opened.push(...all);
    return all;
  }

  test('applies what is missing, once, and says what it was and would be', async () => {
    const [database] = await emptyDatabase();
    if (database === undefined) throw new Error('There is no database.');
    expect(await migrationStatus(database)).toEqual({ applied: [], pending: TAGS });
    expect(await migrationPlan(database)).toEqual([...ALL]);
    const made = sql`select nspname from pg_namespace where nspname = 'drizzle'`;
    expect(await database.rows(made)).toEqual([]);
    expect(await migrate(database)).toEqual(TAGS);
    expect(await migrationPlan(database, [...ALL, LATER])).toEqual([LATER]);
    expect(await migrate(database)).toEqual([]);
    expect(await migrationStatus(database)).toEqual({ applied: TAGS, pending: [] });
    expect(await droppedTriggers(database)).toEqual([]);
    await database.db.run(sql`drop trigger requests_no_update on requests`);
    expect(await droppedTriggers(database)).toEqual(['requests_no_update']);
  });

  test('of several nodes that start at once, one applies', async () => {
    const nodes = await emptyDatabase(4);
    const applied = await Promise.all(nodes.map((node) => migrate(node)));
    expect(applied.map(({ length }) => length).sort()).toEqual([0, 0, 0, TAGS.length]);
  });

  test('leaves every table and every view as it is defined', async () => {
    const [database] = await emptyDatabase();
    if (database === undefined) throw new Error('There is no database.');
    await migrate(database);
    const found = await database.rows<{ name: string }>(
      sql`select table_name || '.' || column_name || ' ' || is_nullable as name
        from information_schema.columns where table_schema = 'public'`,
    );
    const defined = Object.values<unknown>(schema)
      .filter((value) => is(value, PgTable))
      .map(getPostgresTable)
      .flatMap(({ name, columns }) =>
        columns.map((column) => `${name}.${column.name} ${column.notNull ? 'NO' : 'YES'}`),
      );
    const read = viewColumns().map((name) => `${name} YES`);
    expect(found.map(({ name }) => name).sort()).toEqual([...defined, ...read].sort());
  });

  test('one whose connection breaks has done nothing, and is done by the next', async () => {
    const [database] = await emptyDatabase();
    if (database === undefined) throw new Error('There is no database.');
    const end = 'select pg_terminate_backend(pg_backend_pid())';
    const broken = { ...LATER, sql: `${LATER.sql};\n--> statement-breakpoint\n${end}` };
    const failing = migrate(database, [...ALL, broken]).catch((cause: Error) => cause.name);
    expect(await failing).toBe('PostgresFailure');
    expect(await migrationStatus(database)).toEqual({ applied: [], pending: TAGS });
    expect(await migrate(database)).toEqual(TAGS);
  });

  test('does not stop those who serve while another one reads a table for long', async () => {
    const [database, reader, node] = await emptyDatabase(3);
    if (database === undefined || reader === undefined || node === undefined) throw new Error();
    await migrate(database);
    const change = { ...LATER, sql: 'ALTER TABLE accounts ADD COLUMN later text' };
    const waiting = () =>
      database.rows(sql`select 1 from pg_locks where not granted and locktype = 'relation'`);
    const migrated = await reader.snapshot(async () => {
      // PostgreSQL ends a transaction that is idle.
      const reads = () => reader.rows(sql`select 1 from accounts`);
      await reads();
      const done = migrate(database, [...ALL, change]);
      // Twice, so that it was tried again; its lock limit of half a second is below ours.
      for (let times = 0; times < 2; times += 1) {
        while ((await waiting()).length === 0) await reads();
        await node.rows(sql`select 1 from accounts`);
        while ((await waiting()).length > 0) await reads();
      }
      return { done };
    });
    expect(await migrated.done).toEqual([LATER.tag]);
  });

  test('refuses a database of a newer build, or of another line, and undoes what fails', async () => {
    const [database] = await emptyDatabase();
    if (database === undefined) throw new Error('There is no database.');
    const broken = { ...LATER, sql: `${LATER.sql};\n--> statement-breakpoint\nCREATE nonsense` };
    await expect(migrate(database, [...ALL, broken])).rejects.toThrow('syntax error');
    expect(await migrationStatus(database)).toEqual({ applied: [], pending: TAGS });
    await migrate(database, [...ALL, LATER]);
    await expect(migrate(database)).rejects.toThrow('migrated by a newer version of Tollgate');
    await expect(migrationStatus(database)).rejects.toThrow(
      'migrated by a newer version of Tollgate',
    );
    const [other] = await emptyDatabase();
    if (other === undefined) throw new Error('There is no database.');
    await migrate(other, [{ ...LATER, tag: '0000_other' }]);
    await expect(migrate(other)).rejects.toThrow('its migration 1 is not 0000_initial');
  });
});
