import { Database as Connection } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import { migrate as drizzleMigrate } from 'drizzle-orm/bun-sqlite/migrator';
import { openDatabase } from '../../src/store/database.ts';
import { migrate, migrationStatus } from '../../src/store/migrate.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { temporaryDirectory } from '../support/database.ts';
import { runScript, startTogether } from '../support/process.ts';
import { viewColumns } from '../support/view-columns.ts';

const FOLDER = join(import.meta.dir, '../../drizzle/sqlite');
const TAGS = MIGRATIONS.sqlite.map((migration) => migration.tag);
const LATER = { tag: '9999_later', when: 9_999_999_999_999, sql: 'CREATE TABLE later (id text)' };
const MORE = [...MIGRATIONS.sqlite, LATER];

const directory = temporaryDirectory();
const emptyDatabase = (name: string = crypto.randomUUID()) =>
  openDatabase({ url: `sqlite:${join(directory, name)}`, sync: 'normal' });

test('the list is the folder and its journal', () => {
  const journal = JSON.parse(readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string; when: number }[];
  };
  expect([...MIGRATIONS.sqlite]).toEqual(
    journal.entries.map(({ tag, when }) => ({
      tag,
      when,
      sql: readFileSync(join(FOLDER, `${tag}.sql`), 'utf8'),
    })),
  );
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'));
  expect(files.sort()).toEqual(TAGS.map((tag) => `${tag}.sql`));
});

describe('migrate', () => {
  test('applies what is missing, once, and says what it was', async () => {
    const database = emptyDatabase();
    expect(await migrationStatus(database)).toEqual({ applied: [], pending: TAGS });
    expect(await migrate(database)).toEqual(TAGS);
    expect(await migrate(database)).toEqual([]);
    const later = LATER.tag;
    expect(await migrationStatus(database, MORE)).toEqual({ applied: TAGS, pending: [later] });
    expect(await migrate(database, MORE)).toEqual([later]);
    expect(await migrate(database, MORE)).toEqual([]);
    expect(await migrationStatus(database, MORE)).toEqual({
      applied: [...TAGS, later],
      pending: [],
    });
    await database.close();
  });

  test('leaves every view as it is read', async () => {
    const database = emptyDatabase();
    await migrate(database);
    const found = database.connection
      .query<{ name: string }, []>(
        `select v.name || '.' || c.name as name
          from sqlite_schema v join pragma_table_info(v.name) c where v.type = 'view'`,
      )
      .all();
    expect(found.map(({ name }) => name).sort()).toEqual(viewColumns().sort());
    await database.close();
  });

  test("keeps books that Drizzle's own runner understands, and the other way round", async () => {
    const ours = emptyDatabase();
    await migrate(ours);
    drizzleMigrate(drizzle(ours.connection), { migrationsFolder: FOLDER });
    expect(await migrate(ours)).toEqual([]);
    const theirs = emptyDatabase();
    drizzleMigrate(drizzle(theirs.connection), { migrationsFolder: FOLDER });
    expect(await migrate(theirs)).toEqual([]);
    const books = (database: typeof ours) =>
      database.connection.query('SELECT hash, created_at FROM __drizzle_migrations').all();
    expect(books(ours)).toEqual(books(theirs));
    await ours.close();
    await theirs.close();
  });

  test('refuses a database that is newer than the build', async () => {
    const database = emptyDatabase();
    await migrate(database, MORE);
    await expect(migrate(database)).rejects.toThrow('migrated by a newer version of Tollgate');
    await expect(migrationStatus(database)).rejects.toThrow(
      'migrated by a newer version of Tollgate',
    );
    await database.close();
  });

  test('refuses a database that was made from other migrations', async () => {
    const database = emptyDatabase();
    await migrate(database, [{ ...LATER, tag: '0000_other' }]);
    await expect(migrate(database)).rejects.toThrow('its migration 1 is not 0000_initial');
    await database.close();
  });

  test('leaves nothing behind when a statement fails', async () => {
    const database = emptyDatabase();
    const broken = { ...LATER, sql: `${LATER.sql};\n--> statement-breakpoint\nCREATE nonsense` };
    await expect(migrate(database, [...MIGRATIONS.sqlite, broken])).rejects.toThrow('nonsense');
    const tables = database.connection.query('SELECT name FROM sqlite_schema').all();
    expect(tables).toEqual([]);
    expect(database.connection.query('PRAGMA foreign_keys').values()).toEqual([[1n]]);
    await database.close();
  });

  test('refuses a migration that breaks references, and undoes it', async () => {
    const database = emptyDatabase();
    await migrate(database);
    const orphan = {
      ...LATER,
      sql: 'INSERT INTO balances (account_id, posted, held) VALUES (1, 0, 0)',
    };
    await expect(migrate(database, [...MIGRATIONS.sqlite, orphan])).rejects.toThrow(
      '1 rows that refer to missing',
    );
    expect(database.connection.query('SELECT * FROM balances').all()).toEqual([]);
    await database.close();
  });

  test.each([0, 1])('of several processes that start at %d applied, one applies', async (done) => {
    const name = `race-${done}.db`;
    if (done > 0) {
      const database = emptyDatabase(name);
      await migrate(database, MIGRATIONS.sqlite.slice(0, done));
      await database.close();
    }
    const url = JSON.stringify(`sqlite:${join(directory, name)}`);
    const scripts = Array.from({ length: 4 }, () =>
      runScript(`
        const { openDatabase } = await load('store/database.ts');
        const { migrate } = await load('store/migrate.ts');
        await start();
        say(JSON.stringify(await migrate(openDatabase({ url: ${url}, sync: 'normal' }))));`),
    );
    await startTogether(scripts);
    const results = await Promise.all(
      scripts.map(async (script) => (await script.line()) ?? (await script.errors())),
    );
    const expected = [TAGS.slice(done), [], [], []].map((tags) => JSON.stringify(tags));
    expect(results.sort((a, b) => b.length - a.length)).toEqual(expected);
  });

  test('holds the lock before it looks', async () => {
    const name = crypto.randomUUID();
    const ours = emptyDatabase(name);
    await migrate(ours);
    // As another process has it: writers of one thread wait for each other.
    using theirs = new Connection(join(directory, name));
    theirs.run('BEGIN IMMEDIATE');
    ours.connection.run('PRAGMA busy_timeout = 1');
    await expect(migrate(ours, MORE)).rejects.toThrow('locked');
    theirs.run('COMMIT');
    expect(await migrate(ours, MORE)).toEqual([LATER.tag]);
    await ours.close();
  });
});
