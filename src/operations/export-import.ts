// Moves an installation from one database to another through a SQLite file: `tollgate export` and
// `tollgate import`. Audits and sums the books on both sides. Writes everything or nothing.

import { rmSync } from 'node:fs';
import { findDifferences } from '../ledger/audit.ts';
import { type LedgerFacts, ledgerFacts } from '../ledger/facts.ts';
import { createRowWriter, hasRows, readRows } from '../store/archive/rows.ts';
import { archiveTables } from '../store/archive/tables.ts';
import type { Database } from '../store/contract.ts';
import type { SqliteDatabase } from '../store/database.ts';
import { migrate, migrationStatus } from '../store/migrate.ts';
import { writeNote } from '../store/server-notes.ts';
import { createCopy, isIntact, openCopy, syncFile } from '../store/sqlite-copy.ts';
import { OperationError } from './error.ts';

export type Moved = {
  /** Rows per table, in the order of import. */
  readonly tables: Readonly<Record<string, number>>;
  /** The sums of this database's books. */
  readonly ledger: LedgerFacts;
};

/** With the sums of the books in the file. */
export type Imported = Moved & { readonly exported: LedgerFacts };

/** Called first in the transaction of a move: locks others out until its end, or throws. */
type Guard = () => Promise<void>;

/** Writes everything into a new database. Throws the system's error where it cannot be written. */
export async function exportInstallation(
  database: Database,
  path: string,
  guard: Guard,
): Promise<Moved> {
  const file = createCopy(path);
  try {
    const moved = await fill(file, database, guard).finally(file.close);
    // Success is reported only once the file survives a power cut.
    syncFile(path);
    return moved;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

async function fill(file: Database, database: Database, guard: Guard): Promise<Moved> {
  await migrate(file);
  return database.snapshot(async () => {
    await guard();
    const ledger = await verifiedFacts(database);
    const tables = await file.transaction(() => copyRows(database, file));
    return { tables, ledger };
  });
}

/**
 * Fills a migrated, empty database in one transaction. Throws `OperationError` where it is not
 * empty or the books differ from those in the file.
 */
export async function importInstallation(
  database: Database,
  file: Database,
  guard: Guard,
  nowMs: number,
): Promise<Imported> {
  return database.patiently(async () => {
    await guard();
    await refuseFull(database);
    const tables = await copyRows(file, database);
    const exported = await verifiedFacts(file);
    const ledger = await verifiedFacts(database);
    const wrong = Object.keys({ ...exported, ...ledger }).filter(
      (name) => exported[name] !== ledger[name],
    );
    if (wrong.length > 0) {
      throw new OperationError(
        'ledger_differs',
        `The imported books differ from the exported ones (${wrong.join(', ')}). Nothing was imported.`,
      );
    }
    // Backups that are there may be of the database that this one replaces.
    await writeNote(database, 'began', String(nowMs), nowMs);
    return { tables, ledger, exported };
  });
}

/** Opens an exported file and checks it before any change. Throws `file_not_usable`. */
export async function openExport(path: string): Promise<SqliteDatabase> {
  let file: SqliteDatabase | undefined;
  try {
    file = openCopy(path);
    if (!isIntact(file, 'integrity')) throw new Error('SQLite finds damage.');
  } catch {
    await file?.close();
    throw new OperationError(
      'file_not_usable',
      `${path} is missing, damaged or no export. Nothing was imported. Copy it again, or make a new one with tollgate export.`,
    );
  }
  const status = await migrationStatus(file).catch(() => undefined);
  if (status?.pending.length === 0) return file;
  await file.close();
  throw new OperationError(
    'file_not_usable',
    `${path} was made by another version, which has other tables. Export and import with the same version of Tollgate, then upgrade.`,
  );
}

async function refuseFull(database: Database): Promise<void> {
  const full: string[] = [];
  for (const table of archiveTables()) if (await hasRows(database, table)) full.push(table.name);
  if (full.length === 0) return;
  throw new OperationError(
    'database_not_empty',
    `The database is not empty (${full.join(', ')}). Nothing was imported. An import needs a new database: point DATABASE_URL at one.`,
  );
}

/** The number of rows per table. Triggers of the target check every row. */
async function copyRows(from: Database, to: Database): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const table of archiveTables()) {
    const writer = createRowWriter(to, table);
    let count = 0;
    for await (const rows of readRows(from, table)) {
      await writer.write(rows);
      count += rows.length;
    }
    await writer.finish();
    counts[table.name] = count;
  }
  return counts;
}

/** The sums of the books, and the number of differences that the audit finds. */
async function verifiedFacts(database: Database): Promise<LedgerFacts> {
  let differences = 0;
  // Already in the caller's transaction, which sees one state of the database.
  const here: Database = {
    ...database,
    snapshot: (read) => read(database.db),
    settled: (read) => read(),
  };
  for await (const _ of findDifferences(here)) differences += 1;
  return { ...(await ledgerFacts(database)), differences: String(differences) };
}
