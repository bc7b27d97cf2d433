// The SQLite file with the books of an account in a month: tables of the database, without its
// triggers. It is written once, in one transaction, and only read afterwards.

import { Database as Connection } from 'bun:sqlite';
import { archivedMonths } from '../archive-tables.ts';
import type { SqliteDatabase } from '../database.ts';
import { StoreError } from '../error.ts';
import { MIGRATIONS } from '../migrations.ts';
import { balances, movements, priceVersions, requests, texts } from '../money-tables.ts';
import { createCopy, openCopy } from '../sqlite-copy.ts';
import { type ArchiveTable, archiveTable } from './tables.ts';

export const BOOKS = {
  balances: archiveTable(balances),
  archivedMonths: archiveTable(archivedMonths),
  movements: archiveTable(movements),
  requests: archiveTable(requests),
  priceVersions: archiveTable(priceVersions),
  texts: archiveTable(texts),
} satisfies Readonly<Record<string, ArchiveTable>>;

/** By which receipts are read in their order; the other indexes would double the file. */
const INDEXES = ['requests_receipt', 'movements_receipt'];

/** Each table and index takes a page, and most months are small. */
const PAGE_BYTES = 2_048;

/** Throws the system's error where the file cannot be created. Remove one that cannot be finished. */
export function createBooks(path: string): SqliteDatabase {
  const books = createCopy(path);
  const { connection } = books;
  connection.run(`PRAGMA page_size = ${PAGE_BYTES}`);
  // A balance refers to its account, whose row has an e-mail address.
  connection.run('PRAGMA foreign_keys = OFF');
  for (const statement of definitions()) connection.run(statement);
  return books;
}

/** The statements that create the tables, as migrations leave them. */
function definitions(): readonly string[] {
  using migrated = new Connection(':memory:');
  for (const { sql } of MIGRATIONS.sqlite) migrated.run(sql);
  const names = [...Object.values(BOOKS).map(({ name }) => name), ...INDEXES];
  const rows = migrated.query<{ sql: string }, string[]>(
    `select sql from sqlite_schema where name in (${names.map(() => '?').join(', ')}) order by rowid`,
  );
  return rows.all(...names).map((row) => row.sql);
}

/**
 * Opens a finished file, which may be years old: columns that were added since are null in it (decision
 * 0193). Throws `StoreError`, also for a file of a later version with more columns.
 */
export function openBooks(path: string): SqliteDatabase {
  const books = openCopy(path);
  try {
    for (const table of Object.values(BOOKS)) addColumns(books, table);
    return books;
  } catch (error) {
    books.connection.close();
    throw error;
  }
}

/** Queries find the view before the table. */
function addColumns({ connection }: SqliteDatabase, { name, columns }: ArchiveTable): void {
  const rows = connection.query<{ name: string }, [string]>(
    'select name from pragma_table_info(?)',
  );
  const written = new Set(rows.all(name).map((column) => column.name));
  const known = columns.filter((column) => written.has(column));
  if (known.length === 0 || known.length < written.size) {
    throw new StoreError(
      `The table ${name} of the file has columns that this version does not know. Use the version that wrote the file, or a later one.`,
    );
  }
  if (known.length === columns.length) return;
  const list = columns.map((column) => `${written.has(column) ? '' : 'null as '}"${column}"`);
  connection.run(`create temp view "${name}" as select ${list.join(', ')} from main."${name}"`);
}
