// How far the series go, and how far the records do.

import { eq, sql } from 'drizzle-orm';
import type { Database } from '../../store/contract.ts';
import { requests } from '../../store/money-tables.ts';
import { usageMark } from '../../store/series-tables.ts';

/** There is one row. */
export const theMark = eq(usageMark.id, 1);

export function prepareSeriesStatements({ db }: Database) {
  const mark = db.select({ row: usageMark.lastRecord }).from(usageMark).where(theMark).prepare();
  // Of the table itself: its last row is found at once, that of a view is not.
  const last = db
    .select({ row: sql`coalesce(max(${requests.number}), 0)`.mapWith(Number) })
    .from(requests)
    .prepare();
  return {
    /** The number of the last record that the series hold. */
    mark: async () => (await mark.get())?.row ?? 0,
    /** The number of the last record there is; later ones have higher numbers. */
    last: async () => (await last.get())?.row ?? 0,
  };
}
