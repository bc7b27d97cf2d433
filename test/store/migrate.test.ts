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

const FOLDER = join(import.meta.dir, '../../drizzle/sqlite');
const TAGS = MIGRATIONS.map((migration) => migration.tag);
const LATER = { tag: '9999_later', when: 9_999_999_999_999, sql: 'CREATE TABLE later (id text)' };

const directory = temporaryDirectory();
const emptyDatabase = (name: string = crypto.randomUUID()) =>
  openDatabase({ url: `sqlite:${join(directory, name)}`, sync: 'normal' });

test('the list is the folder and its journal', () => {
  const journal = JSON.parse(readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string; when: number }[];
  };
  expect([...MIGRATIONS]).toEqual(
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
  test('applies what is missing, once, and says what it was', () => {
    const database = emptyDatabase();
    expect(migrationStatus(database)).toEqual({ applied: [], pending: TAGS });
    expect(migrate(database, MIGRATIONS.slice(0, 1))).toEqual(TAGS.slice(0, 1));
    expect(migrationStatus(database)).toEqual({
      applied: TAGS.slice(0, 1),
      pending: TAGS.slice(1),
    });
    expect(migrate(database)).toEqual(TAGS.slice(1));
    expect(migrate(database)).toEqual([]);
    expect(migrationStatus(database)).toEqual({ applied: TAGS, pending: [] });
    database.close();
  });

  test("keeps books that Drizzle's own runner understands, and the other way round", () => {
    const ours = emptyDatabase();
    migrate(ours);
    drizzleMigrate(drizzle(ours.connection), { migrationsFolder: FOLDER });
    expect(migrate(ours)).toEqual([]);
    const theirs = emptyDatabase();
    drizzleMigrate(drizzle(theirs.connection), { migrationsFolder: FOLDER });
    expect(migrate(theirs)).toEqual([]);
    const books = (database: typeof ours) =>
      database.connection.query('SELECT hash, created_at FROM __drizzle_migrations').all();
    expect(books(ours)).toEqual(books(theirs));
    ours.close();
    theirs.close();
  });

  test('refuses a database that is newer than the build', () => {
    const database = emptyDatabase();
    migrate(database, [...MIGRATIONS, LATER]);
    expect(() => migrate(database)).toThrow('made by a newer version of tollgate');
    expect(() => migrationStatus(database)).toThrow('made by a newer version of tollgate');
    database.close();
  });

  test('refuses a database that was made from other migrations', () => {
    const database = emptyDatabase();
    migrate(database, [{ ...LATER, tag: '0000_other' }]);
    expect(() => migrate(database)).toThrow('its migration 1 is not 0000_initial');
    database.close();
  });

  test('leaves nothing behind when a statement fails', () => {
    const database = emptyDatabase();
    const broken = { ...LATER, sql: `${LATER.sql};\n--> statement-breakpoint\nCREATE nonsense` };
    expect(() => migrate(database, [...MIGRATIONS, broken])).toThrow('nonsense');
    const tables = database.connection.query('SELECT name FROM sqlite_schema').all();
    expect(tables).toEqual([]);
    expect(database.connection.query('PRAGMA foreign_keys').values()).toEqual([[1n]]);
    database.close();
  });

  test('refuses a migration that breaks references, and undoes it', () => {
    const database = emptyDatabase();
    migrate(database);
    const orphan = { ...LATER, sql: "INSERT INTO balances VALUES ('acct_none', 0, 0)" };
    expect(() => migrate(database, [...MIGRATIONS, orphan])).toThrow(
      '1 rows that refer to missing',
    );
    expect(database.connection.query('SELECT * FROM balances').all()).toEqual([]);
    database.close();
  });

  test.each([0, 1])('of several processes that start at %d applied, one applies', async (done) => {
    const name = `race-${done}.db`;
    if (done > 0) {
      const database = emptyDatabase(name);
      migrate(database, MIGRATIONS.slice(0, done));
      database.close();
    }
    const url = JSON.stringify(`sqlite:${join(directory, name)}`);
    const scripts = Array.from({ length: 4 }, () =>
      runScript(`
        const { openDatabase } = await load('store/database.ts');
        const { migrate } = await load('store/migrate.ts');
        await start();
        say(JSON.stringify(migrate(openDatabase({ url: ${url}, sync: 'normal' }))));`),
    );
    await startTogether(scripts);
    const results = await Promise.all(
      scripts.map(async (script) => (await script.line()) ?? (await script.errors())),
    );
    const expected = [TAGS.slice(done), [], [], []].map((tags) => JSON.stringify(tags));
    expect(results.sort((a, b) => b.length - a.length)).toEqual(expected);
  });

  test('holds the lock before it looks', () => {
    const name = crypto.randomUUID();
    const [ours, theirs] = [emptyDatabase(name), emptyDatabase(name)];
    migrate(ours, MIGRATIONS.slice(0, 1));
    theirs.connection.run('PRAGMA busy_timeout = 1');
    ours.transaction(() => expect(() => migrate(theirs)).toThrow('locked'));
    expect(migrate(theirs)).toEqual(TAGS.slice(1));
    ours.close();
    theirs.close();
  });
});
