// Migrates a database to the schema of this build. Drizzle's own runner checks outside its
// transaction and takes no lock, so two processes that start together would both migrate.

import { createHash } from 'node:crypto';
import { type SQL, sql } from 'drizzle-orm';
import type { Database, Dialect } from './contract.ts';
import { isLockTimeout, NewerDatabase, StoreError } from './error.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { MIGRATING } from './postgres/locks.ts';

type MigrationStatus = {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
};

type AppliedRow = { readonly hash: string; readonly createdAt: number };

const BREAKPOINT = '--> statement-breakpoint';

/** A migration tries this often to lock its tables, for some 15 minutes in all. */
const LOCK_TRIES_MAX = 600;
const LOCK_PAUSE_MS = 1_000;

/** What differs between the two databases. */
type Ground = {
  /** Outside the transaction, before it and after it. */
  readonly open: readonly SQL[];
  readonly close: readonly SQL[];
  /** First in the transaction: blocks every other process until it ends. */
  readonly lock: readonly SQL[];
  readonly hasBookkeeping: SQL;
  /** Exactly the table that Drizzle's tools create. */
  readonly createBookkeeping: readonly SQL[];
  readonly bookkeeping: SQL;
  /** One row per dangling reference. */
  readonly brokenReferences: SQL | undefined;
  readonly triggers: SQL;
};

const GROUNDS: Readonly<Record<Dialect, Ground>> = {
  sqlite: {
    // A migration that rebuilds a table drops the old one, which enforced references would prevent.
    open: [sql`PRAGMA foreign_keys = OFF`],
    close: [sql`PRAGMA foreign_keys = ON`],
    // An immediate transaction is the lock.
    lock: [],
    hasBookkeeping: sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '__drizzle_migrations'`,
    createBookkeeping: [
      sql`CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)`,
    ],
    bookkeeping: sql`__drizzle_migrations`,
    brokenReferences: sql`PRAGMA foreign_key_check`,
    triggers: sql`SELECT name FROM sqlite_schema WHERE type = 'trigger'`,
  },
  postgres: {
    open: [],
    close: [],
    // Other nodes serve at the same time. Their statements queue behind one that waits here for a table (a
    // report may read it for minutes), so it gives up before they do, and tries again.
    lock: [
      sql`SELECT pg_advisory_xact_lock(${sql.raw(MIGRATING)})`,
      sql`SET LOCAL lock_timeout = 500`,
    ],
    hasBookkeeping: sql`SELECT 1 FROM pg_tables WHERE schemaname = 'drizzle' AND tablename = '__drizzle_migrations'`,
    createBookkeeping: [
      sql`CREATE SCHEMA IF NOT EXISTS drizzle`,
      sql`CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
    ],
    bookkeeping: sql`drizzle.__drizzle_migrations`,
    brokenReferences: undefined,
    triggers: sql`SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal`,
  },
};

/**
 * Applies all missing migrations or none, and returns their tags. Throws `StoreError` when the
 * database was made by a newer build, or from different migrations.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS[database.dialect],
): Promise<readonly string[]> {
  const ground = GROUNDS[database.dialect];
  await runAll(database, ground.open);
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await applyMissing(database, migrations);
      } catch (cause) {
        if (!isLockTimeout(cause)) throw cause;
        if (tries === LOCK_TRIES_MAX) throw notLocked(cause);
        await Bun.sleep(LOCK_PAUSE_MS);
      }
    }
  } finally {
    await runAll(database, ground.close);
  }
}

function applyMissing(
  database: Database,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const ground = GROUNDS[database.dialect];
  return database.patiently(async () => {
    await runAll(database, ground.lock);
    if (!(await hasBookkeeping(database))) await runAll(database, ground.createBookkeeping);
    const pending = pendingMigrations(await appliedRows(database), migrations);
    for (const migration of pending) await apply(database, migration);
    if (pending.length > 0) await checkReferences(database);
    return pending.map(({ tag }) => tag);
  });
}

function notLocked(cause: unknown): StoreError {
  return new StoreError(
    'The database cannot be migrated: other transactions have kept its tables locked for 15 minutes. Nothing was changed. End them (pg_stat_activity lists them), and start again.',
    { cause },
  );
}

/** Lists applied and missing migrations; changes nothing. Throws `StoreError` as `migrate` does. */
export async function migrationStatus(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS[database.dialect],
): Promise<MigrationStatus> {
  const pending = await migrationPlan(database, migrations);
  const applied = migrations.slice(0, migrations.length - pending.length);
  return { applied: applied.map(({ tag }) => tag), pending: pending.map(({ tag }) => tag) };
}

/** The migrations that `migrate` would apply, with their SQL. Throws `StoreError` as it does. */
export async function migrationPlan(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS[database.dialect],
): Promise<readonly Migration[]> {
  const rows = (await hasBookkeeping(database)) ? await appliedRows(database) : [];
  return pendingMigrations(rows, migrations);
}

/** Triggers of the migrations that were dropped since: they keep the books append-only. */
export async function droppedTriggers(database: Database): Promise<readonly string[]> {
  const made = MIGRATIONS[database.dialect].flatMap(({ sql: text }) =>
    [...text.matchAll(/CREATE TRIGGER (\w+)/g)].flatMap(([, name]) => name ?? []),
  );
  const rows = await database.rows<{ name: string }>(GROUNDS[database.dialect].triggers);
  return made.filter((name) => !rows.some((row) => row.name === name));
}

/** The applied migrations must be exactly the beginning of our list. */
function pendingMigrations(
  applied: readonly AppliedRow[],
  migrations: readonly Migration[],
): readonly Migration[] {
  if (applied.length > migrations.length) {
    throw new NewerDatabase(
      `The database was migrated by a newer version of Tollgate: it has ${applied.length} migrations, and this version knows ${migrations.length}. Start the newer version again. To go back, stop every server and restore a backup from before the upgrade; what was booked since is lost with it. tollgate docs backup-and-upgrade has the steps.`,
    );
  }
  applied.forEach((row, index) => {
    const migration = migrations[index];
    if (migration?.when === row.createdAt && hashOf(migration) === row.hash) return;
    throw new StoreError(
      `The database was not made by this line of versions: its migration ${index + 1} is not ${migration?.tag}. Use the version that made it, or another database.`,
    );
  });
  return migrations.slice(applied.length);
}

async function apply(database: Database, migration: Migration): Promise<void> {
  const { bookkeeping } = GROUNDS[database.dialect];
  const statements = migration.sql.split(BREAKPOINT).map((text) => sql.raw(text));
  const booked = sql`INSERT INTO ${bookkeeping} (hash, created_at) VALUES (${hashOf(migration)}, ${migration.when})`;
  await runAll(database, [...statements, booked]);
}

/** As Drizzle's tools compute it. */
function hashOf(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

async function hasBookkeeping(database: Database): Promise<boolean> {
  return (await database.rows(GROUNDS[database.dialect].hasBookkeeping)).length > 0;
}

async function appliedRows(database: Database): Promise<readonly AppliedRow[]> {
  const { bookkeeping } = GROUNDS[database.dialect];
  const order = database.dialect === 'sqlite' ? sql`rowid` : sql`id`;
  const rows = await database.rows<{ hash: string; created_at: bigint }>(
    sql`SELECT hash, created_at FROM ${bookkeeping} ORDER BY created_at, ${order}`,
  );
  return rows.map((row) => ({ hash: row.hash, createdAt: Number(row.created_at) }));
}

async function checkReferences(database: Database): Promise<void> {
  const { brokenReferences } = GROUNDS[database.dialect];
  if (brokenReferences === undefined) return;
  const broken = (await database.rows(brokenReferences)).length;
  if (broken === 0) return;
  throw new StoreError(
    `The migration would leave ${broken} rows that refer to missing ones, so nothing was changed. Run tollgate doctor, and restore a backup where it finds damage.`,
  );
}

async function runAll(database: Database, statements: readonly SQL[]): Promise<void> {
  for (const statement of statements) await database.db.run(statement);
}
