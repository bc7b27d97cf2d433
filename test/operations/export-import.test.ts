// Moving an installation: every row arrives, the ledger is unchanged, the target's triggers
// accepted each row, and every failure leaves the target empty as it was.

import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import { formatTokens, micro } from '../../src/core/money.ts';
import { audit } from '../../src/ledger/audit.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { digestOf } from '../../src/operations/archive/files.ts';
import {
  exportInstallation,
  importInstallation,
  openExport,
} from '../../src/operations/export-import.ts';
import { archiveTables } from '../../src/store/archive/tables.ts';
import type { Database } from '../../src/store/contract.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres/database.ts';
import { readNote } from '../../src/store/server-notes.ts';
import {
  auditEvents,
  blocks,
  incidentLimits,
  reasoning,
  serverNotes,
  settings,
} from '../../src/store/tables.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
} from '../support/database.ts';
import {
  booksOver,
  creditOf,
  fundAccount,
  holdOf,
  NOW,
  PRICE,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';

describeOnEachDatabase('moving a deployment', async () => {
  const directory = temporaryDirectory();
  /** No server uses the target. */
  const alone = async (): Promise<void> => undefined;

  let files = 0;
  const newFile = (): string => {
    files += 1;
    return join(directory, `export-${files}`);
  };

  /**
   * Accounts with money, requests that ended in every way and two that run, and rows of other
   * tables.
   */
  async function fill(database: SqliteDatabase): Promise<void> {
    const open = booksOver(database);
    const { ledger } = open;
    await fundAccount(open, 'acct_1', 10n ** 18n);
    await fundAccount(open, 'acct_2', 5_000n);
    await fundAccount(open, 'acct_empty', 0n);
    for (let request = 0; request < 120; request += 1) {
      const id = `req_${String(request).padStart(3, '0')}`;
      await ledger.hold(holdOf(id, request % 3 === 0 ? 'acct_2' : 'acct_1', 20n));
      if (request % 10 === 0) await ledger.release(releaseOf(id));
      else await ledger.settle(settleOf(id, 15n));
    }
    await ledger.hold(holdOf('req_open', 'acct_1', 77n));
    await ledger.hold(holdOf('req_delivering', 'acct_1', 23n));
    await ledger.checkpoint({
      ...{ requestId: 'req_delivering', outputTokens: 5, reasoningTokens: 2, nowMs: NOW },
      served: { model: 'swift-1', upstream: 'demo', price: PRICE },
    });
    await ledger.credit(creditOf('later', 'acct_2', 1n));
    expect(await createRollUp(database).step(100)).toBe(100);
    const { db } = database;
    await db.insert(settings).values({ name: 'maintenance', value: 'off', updatedAt: NOW }).run();
    await db.insert(blocks).values({
      ...{ id: 'block_1', kind: 'network', value: '10.0.0.0/8', reason: 'ü "\n\'', createdAt: NOW },
    });
    await db.insert(incidentLimits).values({ model: 'm', reason: 'r', updatedAt: NOW }).run();
    await db.insert(serverNotes).values({ name: 'catalog', value: 'v', updatedAt: NOW }).run();
    await db.insert(auditEvents).values({
      ...{ operationId: 'op', at: NOW, actor: 'operator', action: 'a', subject: 's', detail: '{}' },
    });
    await db.insert(reasoning).values({
      ...{ accountId: 'acct_1', createdAt: NOW, size: 3 },
      ...{ digest: Uint8Array.of(0, 1, 255), sealed: Uint8Array.of(9) },
    });
  }

  async function allRows(database: Database): Promise<Record<string, unknown[]>> {
    const all: Record<string, unknown[]> = {};
    const list = (names: readonly string[]) =>
      sql.join(
        names.map((name) => sql.identifier(name)),
        sql`, `,
      );
    for (const { name, key, columns } of archiveTables()) {
      const asked = list(columns);
      const rows = await database.rows<Record<string, unknown>>(
        sql`select ${asked} from ${sql.identifier(name)} order by ${list(key)}`,
      );
      // Bytes of PostgreSQL come in a class of their own.
      all[name] = rows.map((row) =>
        Object.values(row).map((value) =>
          value instanceof Uint8Array ? Uint8Array.from(value) : value,
        ),
      );
    }
    return all;
  }

  const openSqlite = async (): Promise<SqliteDatabase> => newDatabase(directory);

  /** Imports a file as the command does. */
  async function imported(target: Database, path = exported) {
    const file = await openExport(path);
    return importInstallation(target, file, alone, NOW).finally(file.close);
  }

  const source = await openSqlite();
  await fill(source);
  const exported = newFile();
  const out = await exportInstallation(source, exported, alone);
  afterAll(() => source.close());

  sqliteTest('it reads the schema of SQLite')(
    'every table of the database is moved, or known to stay',
    async () => {
      const found = await source.rows<{ readonly name: string }>(
        sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`,
      );
      const moved = archiveTables().map(({ name }) => name);
      const notes = ['server_notes', 'refused_requests', 'upstream_words'];
      const stays = ['__drizzle_migrations', 'nodes', 'leases', ...notes];
      expect(found.map(({ name }) => name).sort()).toEqual([...moved, ...stays].sort());
    },
  );

  test('a table comes after those that it refers to', () => {
    const names = archiveTables().map(({ name }) => name);
    const before = (first: string, second: string) =>
      expect([first, second, names.indexOf(first) < names.indexOf(second)]).toEqual([
        first,
        second,
        true,
      ]);
    before('accounts', 'api_keys');
    before('accounts', 'balances');
    before('accounts', 'sign_in_users');
    before('sign_in_users', 'sign_in_sessions');
  });

  function describeTarget(name: string, open: () => Promise<Database>): void {
    describe(`from SQLite to ${name}`, () => {
      test('an import brings every row and the same books', async () => {
        const target = await open();
        const moved = await imported(target);
        expect(await allRows(target)).toEqual(await allRows(source));
        expect(moved).toEqual({ ...out, exported: out.ledger });
        // Backups that were here before may be of another database.
        expect(await readNote(target, 'began')).toBe(String(NOW));
        expect(out.tables).toMatchObject({
          accounts: 3,
          open_holds: 2,
          requests: 120,
          movements: 3,
          settings: 1,
        });
        expect(out.ledger).toMatchObject({
          ...{ accounts: '3', open_holds: '2', open_holds_amount: '0.0001', requests: '120' },
          ...{
            held: '0.0001',
            differences: '0',
            posted: formatTokens(micro(10n ** 18n + 5_001n - 15n * 108n)),
          },
        });
        await target.close();
      });

      test('what was imported, exported again, is the same file, and so the way back', async () => {
        const target = await open();
        await imported(target);
        const again = newFile();
        await exportInstallation(target, again, alone);
        expect(await digestOf(again)).toEqual(await digestOf(exported));
        await target.close();
        const home = await openSqlite();
        await imported(home, again);
        expect(await allRows(home)).toEqual(await allRows(source));
        await home.close();
      });

      test('the target counts on, ends the open request, and keeps its triggers', async () => {
        const target = await open();
        await imported(target);
        const ledger = createLedger({ database: target });
        await ledger.settle(settleOf('req_open', 15n));
        await ledger.credit(creditOf('after', 'acct_empty', 3n));
        await ledger.close();
        const { rows } = target;
        for (const table of ['requests', 'movements'] as const) {
          const numbers = await rows<{ readonly number: bigint }>(
            sql`select number from ${sql.identifier(table)} order by number`,
          );
          expect(numbers.map(({ number }) => Number(number))).toEqual(
            Array.from({ length: table === 'requests' ? 121 : 4 }, (_, at) => at + 1),
          );
        }
        expect(await audit(target)).toEqual([]);
        await expect(target.rows(sql`update audit_events set actor = 'me'`)).rejects.toThrow();
        await expect(target.rows(sql`update movements set amount = 1`)).rejects.toThrow();
        await target.close();
      });

      test('a target that holds something is refused', async () => {
        const target = await open();
        await target.db.insert(settings).values({ name: 'a', value: 'b', updatedAt: NOW }).run();
        expect(await failureOf(imported(target))).toStartWith(
          'The database is not empty (settings).',
        );
        await target.close();
      });

      test('where the books would come out otherwise, nothing is imported', async () => {
        const target = await open();
        const file = await openExport(exported);
        // What is read of the file behind its rows is something else.
        const rows: Database['rows'] = async (query) => {
          const { sql: text } = new SQLiteAsyncDialect().sqlToQuery(query);
          const isSum = text.endsWith('as amount from "balances"');
          return isSum ? ([{ amount: '1' }] as never) : file.rows(query);
        };
        expect(await failureOf(importInstallation(target, { ...file, rows }, alone, NOW))).toBe(
          'The imported books differ from the exported ones (posted, held). Nothing was imported.',
        );
        await file.close();
        expect(await target.rows(sql`select 1 from accounts`)).toEqual([]);
        await target.close();
      });
    });
  }

  describeTarget('SQLite', openSqlite);

  describeWithServices('an installation that moves to PostgreSQL', ['PostgreSQL'], () => {
    const openNew = async (): Promise<Database> => openPostgres({ url: await newPostgresUrl() });

    // The server starts with its first database.
    beforeAll(() => newPostgresUrl(), 60_000);

    describeTarget('PostgreSQL', openNew);

    test('an import whose connection breaks has done nothing, and can be done again', async () => {
      const target = await openNew();
      for (const statement of [
        `create function break_off() returns trigger language plpgsql as $$
        begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`,
        'create trigger break_off after insert on requests execute function break_off()',
      ]) {
        await target.rows(sql.raw(statement));
      }
      const failing = imported(target).catch(({ name }: Error) => name);
      expect(await failing).toBe('PostgresFailure');
      expect(await target.rows(sql`select 1 from accounts`)).toEqual([]);
      await target.rows(sql`drop trigger break_off on requests`);
      await imported(target);
      expect(await allRows(target)).toEqual(await allRows(source));
      await target.close();
    });

    test('its tables are numbered where their rows are read in order', async () => {
      const target = await openNew();
      const found = await target.rows<{ readonly name: string }>(
        sql`select table_name as name from information_schema.columns where column_name = 'rowid'`,
      );
      const inOrder = archiveTables().filter(({ key }) => key[0] === 'rowid');
      expect(found.map(({ name }) => name).sort()).toEqual(inOrder.map(({ name }) => name).sort());
      await target.close();
    });
  });

  function failureOf(work: Promise<unknown>): Promise<string> {
    return work.then(
      () => 'imported',
      (error) => (error instanceof Error ? error.message : String(error)),
    );
  }

  describe('nothing is imported', () => {
    test('of a file that is cut off, anywhere', async () => {
      const bytes = readFileSync(exported);
      const path = newFile();
      for (const share of [0.1, 0.5, 0.9, 0.999]) {
        writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
        expect(await failureOf(openExport(path))).toContain('is missing, damaged or no export');
      }
    });

    test('of a file whose pages were overwritten', async () => {
      const bytes = readFileSync(exported);
      const path = newFile();
      writeFileSync(path, bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 4_096));
      expect(await failureOf(openExport(path))).toContain('is missing, damaged or no export');
    });

    test.each([
      'delete from __drizzle_migrations where rowid = 1',
      'drop table __drizzle_migrations',
      "insert into __drizzle_migrations (hash, created_at) values ('later', 9000000000000)",
    ])('of another version: %s', async (statement) => {
      const path = newFile();
      writeFileSync(path, readFileSync(exported));
      using connection = new Connection(path);
      connection.run(statement);
      expect(await failureOf(openExport(path))).toContain('was made by another version');
    });
  });
});
