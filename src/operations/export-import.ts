// Moves an installation from one database to another through a file: `tollgate export` and
// `tollgate import`. Audits and sums the books on both sides. Writes everything or nothing.

import { isDeepStrictEqual } from 'node:util';
import { isoTime } from '../core/calendar.ts';
import { findDifferences } from '../ledger/audit.ts';
import { ledgerFacts } from '../ledger/facts.ts';
import { ArchiveError, type LedgerFacts } from '../store/archive/format.ts';
import { type Portion, readArchive } from '../store/archive/reader.ts';
import { createRowWriter, hasRows, readRows } from '../store/archive/rows.ts';
import { type ArchiveTable, archiveTables } from '../store/archive/tables.ts';
import { writeArchive } from '../store/archive/writer.ts';
import type { Database } from '../store/contract.ts';
import { writeNote } from '../store/server-notes.ts';
import { OperationError } from './error.ts';

export type Moved = {
  /** Rows per table, in the order of import. */
  readonly tables: Readonly<Record<string, number>>;
  /** The sums of this database's books. */
  readonly ledger: LedgerFacts;
};

/** With the sums of the other side's books, from the file. */
export type Imported = Moved & { readonly madeBy: string; readonly exported: LedgerFacts };

/** Called first in the transaction of a move: locks others out until its end, or throws. */
type Guard = () => Promise<void>;

/** Writes everything into a new file. Throws the system's error where it cannot be written. */
export async function exportInstallation(
  database: Database,
  path: string,
  by: { readonly version: string; readonly nowMs: number },
  guard: Guard,
): Promise<Moved> {
  const tables = archiveTables();
  return database.snapshot(async () => {
    await guard();
    const ledger = await verifiedFacts(database);
    const counts = await writeArchive(path, {
      madeBy: by.version,
      madeAt: isoTime(by.nowMs),
      tables,
      rowsOf: (table) => readRows(database, table),
      ledger,
    });
    return { tables: Object.fromEntries(counts), ledger };
  });
}

/**
 * Fills a migrated, empty database in one transaction. Throws `OperationError` where it is not
 * empty or the books differ from the file, and `ArchiveError` for a damaged file.
 */
export async function importInstallation(
  database: Database,
  path: string,
  guard: Guard,
  nowMs: number,
): Promise<Imported> {
  const tables = archiveTables();
  return database.patiently(async () => {
    await guard();
    await refuseFull(database, tables);
    const { counts, madeBy, exported } = await fill(database, tables, path);
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
    return { tables: counts, ledger, madeBy, exported };
  });
}

/** Reads a file to its end, so that a damaged one is found before any change. */
export async function checkArchive(path: string): Promise<void> {
  for await (const portion of readArchive(path))
    if (portion.kind === 'header') checkTables(portion);
}

/**
 * Tables and columns must be those of this build in the same order, which is also that of every
 * row: an import does not migrate.
 */
function checkTables({ madeBy, tables }: Extract<Portion, { readonly kind: 'header' }>): void {
  const own = archiveTables().map(({ name, columns }) => ({ name, columns }));
  if (isDeepStrictEqual(tables, own)) return;
  throw new ArchiveError(
    `The file was made by version ${madeBy}, which has other tables. Export and import with the same version of Tollgate, then upgrade.`,
  );
}

async function refuseFull(database: Database, tables: readonly ArchiveTable[]): Promise<void> {
  const full: string[] = [];
  for (const table of tables) if (await hasRows(database, table)) full.push(table.name);
  if (full.length === 0) return;
  throw new OperationError(
    'database_not_empty',
    `The database is not empty (${full.join(', ')}). Nothing was imported. An import needs a new database: point DATABASE_URL at one.`,
  );
}

async function fill(
  database: Database,
  tables: readonly ArchiveTable[],
  path: string,
): Promise<{
  readonly counts: Record<string, number>;
  readonly madeBy: string;
  readonly exported: LedgerFacts;
}> {
  const counts: Record<string, number> = Object.fromEntries(tables.map(({ name }) => [name, 0]));
  const writers = new Map(tables.map((table) => [table.name, createRowWriter(database, table)]));
  let madeBy = '';
  let exported: LedgerFacts = {};
  for await (const portion of readArchive(path)) {
    switch (portion.kind) {
      case 'header':
        checkTables(portion);
        ({ madeBy } = portion);
        break;
      case 'rows':
        await writers.get(portion.table)?.write(portion.rows);
        counts[portion.table] = (counts[portion.table] ?? 0) + portion.rows.length;
        break;
      case 'end':
        exported = portion.ledger;
        break;
    }
  }
  for (const writer of writers.values()) await writer.finish();
  return { counts, madeBy, exported };
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
