// Reads the rows of an archived month in the columns of this version. The file may be years old: rows
// of earlier versions lack the columns that were added since, which are null in them (decision 0160).

import { MONTH_TABLES, monthTable } from '../../ledger/archive/rows.ts';
import { ArchiveError, type TableShape } from '../../store/archive/format.ts';
import { type Portion, readArchive } from '../../store/archive/reader.ts';
import type { ArchiveTable } from '../../store/archive/tables.ts';

type Header = Extract<Portion, { readonly kind: 'header' }>;

/** Where a row of the file has each column of this version; -1 where it lacks it. */
type Places = readonly number[];

/** As `readArchive`. Throws `ArchiveError` also for a file of a later version with more columns. */
export async function* readMonth(path: string): AsyncGenerator<Portion> {
  let places: ReadonlyMap<string, Places> = new Map();
  for await (const portion of readArchive(path)) {
    if (portion.kind === 'header') places = placesOf(portion);
    if (portion.kind !== 'rows') {
      yield portion;
      continue;
    }
    const order = places.get(portion.table) ?? [];
    yield { ...portion, rows: portion.rows.map((row) => order.map((at) => row[at] ?? null)) };
  }
}

function placesOf({ madeBy, tables }: Header): ReadonlyMap<string, Places> {
  const own = MONTH_TABLES.map(monthTable);
  const found = own.map((table) => {
    const shape = tables.find(({ name }) => name === table.name);
    return shape && placesIn(shape, table);
  });
  if (tables.length !== own.length || found.includes(undefined)) {
    throw new ArchiveError(
      `The file was made by version ${madeBy}, whose tables this version cannot read. Use version ${madeBy} or a later one.`,
    );
  }
  return new Map(own.map(({ name }, at) => [name, found[at] ?? []]));
}

/** `undefined` where the file has other columns, or lacks one that may not be null. */
function placesIn(shape: TableShape, { columns, optional }: ArchiveTable): Places | undefined {
  const places = columns.map(({ name, kind }) =>
    shape.columns.findIndex((column) => column.name === name && column.kind === kind),
  );
  const isWhole = places.every((at, index) => at >= 0 || optional.has(columns[index]?.name ?? ''));
  const read = places.filter((at) => at >= 0).length;
  return isWhole && read === shape.columns.length ? places : undefined;
}
