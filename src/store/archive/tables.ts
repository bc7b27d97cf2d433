// The tables and columns of an export, each table after those that it references. Leaves out what a
// server recreates: running nodes, and notes between a server and its commands. Sums of usage move with
// their position: those of archived months cannot be made again.

import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import * as archived from '../archive-tables.ts';
import * as console from '../console-tables.ts';
import * as money from '../money-tables.ts';
import * as series from '../series-tables.ts';
import * as signIn from '../sign-in-tables.ts';
import * as plain from '../tables.ts';

export type Value = bigint | string | Uint8Array | null;

/** In the order of the columns. */
export type Row = readonly Value[];

export type ArchiveTable = {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns that rows are ordered by; together they are unique. */
  readonly key: readonly string[];
  /** The column that the database numbers; absent where there is none. */
  readonly numbered: string | undefined;
  /** The only row is there from the beginning, with this column at 0; an import replaces it. */
  readonly replaced: string | undefined;
};

const STAYS: readonly unknown[] = [plain.serverNotes];

/** Tables whose insertion order matters: SQLite and PostgreSQL both number their rows. */
const IN_ORDER: ReadonlySet<SQLiteTable> = new Set<SQLiteTable>([
  plain.accounts,
  plain.apiKeys,
  plain.blocks,
  money.redemptionCodes,
  signIn.users,
  signIn.invites,
]);

/** Every exported table, in the order of import. */
export function archiveTables(): readonly ArchiveTable[] {
  const all = [plain, money, archived, series, signIn, console]
    .flatMap((file) => Object.values<unknown>(file))
    .filter((value): value is SQLiteTable => is(value, SQLiteTable))
    .filter((table) => !STAYS.includes(table));
  const placed = new Set<SQLiteTable>();
  const place = (table: SQLiteTable): void => {
    if (placed.has(table)) return;
    for (const { reference } of getTableConfig(table).foreignKeys) {
      place(reference().foreignTable as SQLiteTable);
    }
    placed.add(table);
  };
  all.forEach(place);
  return [...placed].map(archiveTable);
}

export function archiveTable(table: SQLiteTable): ArchiveTable {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const single = columns.find(({ primary }) => primary);
  const key = single === undefined ? (primaryKeys[0]?.columns ?? []) : [single];
  return {
    name,
    columns: columns.map((column) => column.name),
    key: IN_ORDER.has(table) ? ['rowid'] : key.map((column) => column.name),
    numbered: single?.defaultFn === undefined ? undefined : single.name,
    replaced: table === series.usageMark ? series.usageMark.lastRecord.name : undefined,
  };
}
