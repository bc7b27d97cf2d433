// The rows of a month as they are archived. Rows of the books never change, so they are read page by
// page without a transaction.

import { getTableColumns, sql } from 'drizzle-orm';
import { requestIdBytes } from '../../core/id.ts';
import { shapeNumber } from '../../core/shape.ts';
import type { Row } from '../../store/archive/format.ts';
import { rawRow } from '../../store/archive/rows.ts';
import { type ArchiveTable, archiveTable } from '../../store/archive/tables.ts';
import type { Database } from '../../store/contract.ts';
import { movements, priceVersions, requests, texts } from '../../store/money-tables.ts';
import { decode } from '../../store/statement.ts';
import type { BookedNames } from '../booked-names.ts';
import { hashText } from '../receipts.ts';
import type { DueMonth } from './due.ts';

const ROWS_AT_ONCE = 500;

export type MonthTable = 'requests' | 'movements' | 'price_versions' | 'texts';

/** In the order of the file: the numbers in requests decide which texts and prices follow. */
export const MONTH_TABLES: readonly MonthTable[] = [
  'movements',
  'requests',
  'price_versions',
  'texts',
];

const TABLES: Readonly<Record<MonthTable, ArchiveTable>> = {
  movements: archiveTable(movements),
  requests: archiveTable(requests),
  price_versions: archiveTable(priceVersions),
  texts: archiveTable(texts),
};

/** The shape of a table in the file. */
export const monthTable = (name: MonthTable): ArchiveTable => TABLES[name];

/** The receipts of an account within a month, in pages of rows, in the order of the chain. */
export async function* monthRows(
  database: Database,
  name: 'requests' | 'movements',
  { account, first, last }: Pick<DueMonth, 'account' | 'first' | 'last'>,
): AsyncGenerator<readonly Row[]> {
  const table = monthTable(name);
  for (let after = first - 1; after < last; ) {
    const found = await database.rows<Readonly<Record<string, unknown>>>(
      sql`select * from ${sql.identifier(name)}
        where account = ${account} and sequence > ${after} and sequence <= ${last}
        order by sequence limit ${ROWS_AT_ONCE}`,
    );
    if (found[0] !== undefined) {
      requireColumns(found[0], table);
      yield found.map((row) => rawRow(row, table));
    }
    if (found.length < ROWS_AT_ONCE) return;
    after = Number(found.at(-1)?.['sequence']);
  }
}

/** While an upgrade is rolling, the database may have a column that this version would not archive. */
function requireColumns(row: Readonly<Record<string, unknown>>, { name, columns }: ArchiveTable) {
  if (Object.keys(row).length === columns.length) return;
  throw new Error(`a later version has added columns to ${name}, and will archive them`);
}

/** The rows of texts or prices with these numbers. */
export async function* numberedRows(
  database: Database,
  name: 'texts' | 'price_versions',
  numbers: ReadonlySet<number>,
): AsyncGenerator<readonly Row[]> {
  const table = monthTable(name);
  const all = [...numbers].sort((one, other) => one - other);
  for (let from = 0; from < all.length; from += ROWS_AT_ONCE) {
    const some = sql.join(
      all.slice(from, from + ROWS_AT_ONCE).map((number) => sql`${number}`),
      sql`, `,
    );
    const found = await database.rows<Readonly<Record<string, unknown>>>(
      sql`select * from ${sql.identifier(name)} where number in (${some}) order by number`,
    );
    yield found.map((row) => rawRow(row, table));
  }
}

export type BookedRequest = typeof requests.$inferSelect;
export type BookedMovement = typeof movements.$inferSelect;

const REQUEST = getTableColumns(requests);
const MOVEMENT = getTableColumns(movements);

export const requestOf = (row: Row): BookedRequest => decode(REQUEST, row);

export const movementOf = (row: Row): BookedMovement => decode(MOVEMENT, row);

/** The numbers of the texts and prices that a request refers to. */
export function referencesOf(row: BookedRequest) {
  const { key, model, upstream, modelServed, report, attempts } = row;
  const { price, priceServed } = row;
  const optional = [upstream, modelServed].flatMap((number) => number ?? []);
  const shapes = [report, attempts].flatMap((packed) =>
    packed === null ? [] : (shapeNumber(packed) ?? []),
  );
  return {
    texts: [key, model, ...shapes, ...optional],
    prices: [price, ...(priceServed === null ? [] : [priceServed])],
  };
}

/** Adds a row of texts or prices to the names of a month. */
export function addName(names: BookedNames, table: string, row: Row): void {
  if (table === 'texts') names.addText(decode(getTableColumns(texts), row));
  if (table === 'price_versions') names.addPrice(decode(getTableColumns(priceVersions), row));
}

export const idBytesOf = ({ id }: BookedRequest): Uint8Array => requestIdBytes(id);

export const hashOf = ({ hash }: BookedRequest | BookedMovement): string => hashText(hash);
