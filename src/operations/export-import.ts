// Moves an installation from one database to another by way of a file: `tollgate export` and
// `tollgate import`. The books are audited and added up on both sides; what is written is all of it,
// or nothing.

import { isDeepStrictEqual } from 'node:util';
import { isoTime } from '../core/calendar.ts';
import { findDifferences } from '../ledger/audit.ts';
import { ledgerFacts } from '../ledger/facts.ts';
import { ArchiveError, type LedgerFacts, type TableShape } from '../store/archive/format.ts';
import { type Portion, readArchive } from '../store/archive/reader.ts';
import { createRowWriter, hasRows, readRows } from '../store/archive/rows.ts';
import { type ArchiveTable, archiveTables } from '../store/archive/tables.ts';
import { writeArchive } from '../store/archive/writer.ts';
import type { Database } from '../store/contract.ts';
import { OperationError } from './error.ts';

export type Moved = {
  /** Rows by table, in the order in which they are filled. */
  readonly tables: Readonly<Record<string, number>>;
  /** What the books of this database add up to. */
  readonly ledger: LedgerFacts;
};

/** With the books of the other side, as the file tells them. */
export type Imported = Moved & { readonly madeBy: string; readonly exported: LedgerFacts };

/** Called first in the transaction of a move: keeps others out until its end, or throws. */
type Guard = () => Promise<void>;

/** Writes everything into a new file. Throws what the system says where it cannot be written. */
export async function exportInstallation(
  database: Database,
  path: string,
  by: { readonly version: string; readonly nowMs: number },
  guard: Guard,
): Promise<Moved> {
  const tables = archiveTables();
  const shapes = new Map(tables.map((table) => [table.name, table]));
  return database.snapshot(async () => {
    await guard();
    const ledger = await verifiedFacts(database);
    const counts = await writeArchive(path, {
      madeBy: by.version,
      madeAt: isoTime(by.nowMs),
      tables: tables.map(shapeOf),
      rowsOf({ name }) {
        const table = shapes.get(name);
        if (table === undefined) throw new TypeError(`There is no table ${name}.`);
        return readRows(database, table);
      },
      ledger,
    });
    return { tables: Object.fromEntries(counts), ledger };
  });
}

/**
 * Fills a database that is migrated and empty, in one transaction. Throws `OperationError` where it
 * is not empty or the books do not come out as they were, and `ArchiveError` for a damaged file.
 */
export async function importInstallation(
  database: Database,
  path: string,
  guard: Guard,
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
        `The books do not come out as they were exported (${wrong.join(', ')}). Nothing was imported.`,
      );
    }
    return { tables: counts, ledger, madeBy, exported };
  });
}

/** Reads a file to its end, so that a damaged one costs no database a thing. */
export async function checkArchive(path: string): Promise<void> {
  for await (const portion of readArchive(path))
    if (portion.kind === 'header') checkTables(portion);
}

/**
 * Tables and columns have to be those of this build, in its order, which is that of every row: an
 * archive is no way round a migration.
 */
function checkTables({ madeBy, tables }: Extract<Portion, { readonly kind: 'header' }>): void {
  const isOurs = isDeepStrictEqual(tables, archiveTables().map(shapeOf));
  if (isOurs) return;
  throw new ArchiveError(
    `The file was made by version ${madeBy}, whose tables are others. Export and import with the same version of Tollgate, then update.`,
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

/** What the books add up to, with how many differences the audit finds in them. */
async function verifiedFacts(database: Database): Promise<LedgerFacts> {
  let differences = 0;
  // It is in the caller's transaction already, and sees one state of the database.
  const here: Database = {
    ...database,
    snapshot: (read) => read(database.db),
    settled: (read) => read(),
  };
  for await (const _ of findDifferences(here)) differences += 1;
  return { ...(await ledgerFacts(database)), differences: String(differences) };
}

function shapeOf({ name, columns }: ArchiveTable): TableShape {
  return { name, columns };
}
