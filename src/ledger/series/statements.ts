// Reads the position of the series and the end of the usage records, and selects records between two
// such positions.

import { and, eq, gt, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../store/contract.ts';
import { requests } from '../../store/money-tables.ts';
import { usageMark } from '../../store/series-tables.ts';

/** Records after `after`, up to `until`. */
export type RecordRange = { readonly after: number; readonly until: number };

/** Whether a record is in a range, which is given with the values of the statement. */
export function isInRows(number: SQLiteColumn): SQL | undefined {
  return and(gt(number, sql.placeholder('after')), lte(number, sql.placeholder('until')));
}

/** The table has one row. */
export const theMark = eq(usageMark.id, 1);

export function prepareSeriesStatements({ db }: Database) {
  const mark = db.select({ row: usageMark.lastRecord }).from(usageMark).where(theMark).prepare();
  // Reads the table, because finding the last row of the view is slow.
  const last = db
    .select({ row: sql`coalesce(max(${requests.number}), 0)`.mapWith(Number) })
    .from(requests)
    .prepare();
  const first = db
    .select({ row: sql`coalesce(min(${requests.number}), 1)`.mapWith(Number) })
    .from(requests)
    .prepare();
  return {
    /** The number of the first record; earlier ones are archived. */
    first: async () => (await first.get())?.row ?? 1,
    /** The number of the last record in the series. */
    mark: async () => (await mark.get())?.row ?? 0,
    /** The number of the last record; later ones have higher numbers. */
    last: async () => (await last.get())?.row ?? 0,
  };
}
