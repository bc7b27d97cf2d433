// Brings a database up to what this build needs. Drizzle's own runner looks outside its
// transaction and takes no lock; two processes that start together would both apply everything.

import { createHash } from 'node:crypto';
import type { SqliteDatabase } from './database.ts';
import { StoreError } from './error.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

type MigrationStatus = {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
};

type AppliedRow = { readonly hash: string; readonly createdAt: number };

const BREAKPOINT = '--> statement-breakpoint';

/**
 * Applies what is missing, all of it or nothing, and returns the tags that were applied. Throws
 * `StoreError` when the database was made by a newer build, or from different migrations.
 */
export async function migrate(
  database: SqliteDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly string[]> {
  const { connection } = database;
  // A migration that rebuilds a table drops the old one, which enforced references would refuse.
  connection.run('PRAGMA foreign_keys = OFF');
  try {
    return await database.transaction(async () => {
      createBookkeeping(database);
      const pending = pendingMigrations(appliedRows(database), migrations);
      for (const migration of pending) apply(database, migration);
      if (pending.length > 0) checkReferences(database);
      return pending.map((migration) => migration.tag);
    });
  } finally {
    connection.run('PRAGMA foreign_keys = ON');
  }
}

/** What is applied and what is not; changes nothing. Throws `StoreError` as `migrate` does. */
export function migrationStatus(
  database: SqliteDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): MigrationStatus {
  const rows = hasBookkeeping(database) ? appliedRows(database) : [];
  const pending = pendingMigrations(rows, migrations);
  return {
    applied: migrations.slice(0, rows.length).map((migration) => migration.tag),
    pending: pending.map((migration) => migration.tag),
  };
}

/** Triggers that the migrations made and somebody has dropped: they keep the books append-only. */
export function droppedTriggers({ connection }: SqliteDatabase): readonly string[] {
  const made = MIGRATIONS.flatMap(({ sql }) =>
    [...sql.matchAll(/CREATE TRIGGER (\w+)/g)].flatMap(([, name]) => name ?? []),
  );
  const rows = connection
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  return made.filter((name) => !rows.some((row) => row.name === name));
}

/** The applied migrations must be exactly the beginning of our list. */
function pendingMigrations(
  applied: readonly AppliedRow[],
  migrations: readonly Migration[],
): readonly Migration[] {
  if (applied.length > migrations.length) {
    throw new StoreError(
      'The database was made by a newer version of tollgate. Start that version, or restore a backup that was taken before the upgrade.',
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

function apply(database: SqliteDatabase, migration: Migration): void {
  for (const statement of migration.sql.split(BREAKPOINT)) database.connection.run(statement);
  database.connection.run('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)', [
    hashOf(migration),
    migration.when,
  ]);
}

/** As Drizzle's tools compute it. */
function hashOf(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

/** Letter for letter the table that Drizzle's tools make. */
function createBookkeeping(database: SqliteDatabase): void {
  database.connection.run(
    'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)',
  );
}

function hasBookkeeping(database: SqliteDatabase): boolean {
  const found = database.connection
    .query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '__drizzle_migrations'")
    .get();
  return found !== null;
}

function appliedRows(database: SqliteDatabase): readonly AppliedRow[] {
  return database.connection
    .query<{ hash: string; created_at: bigint }, []>(
      'SELECT hash, created_at FROM __drizzle_migrations ORDER BY created_at, rowid',
    )
    .all()
    .map((row) => ({ hash: row.hash, createdAt: Number(row.created_at) }));
}

function checkReferences(database: SqliteDatabase): void {
  const broken = database.connection.query('PRAGMA foreign_key_check').all().length;
  if (broken === 0) return;
  throw new StoreError(
    `The migration would leave ${broken} rows that refer to missing ones, so nothing was changed. Run tollgate doctor, and restore a backup where it finds damage.`,
  );
}
