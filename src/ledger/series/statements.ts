// How far the series go, and how far the records do.

import { eq, sql } from 'drizzle-orm';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-tables.ts';
import { usageMark } from '../../store/series-tables.ts';

/** There is one row. */
export const theMark = eq(usageMark.id, 1);

export function prepareSeriesStatements({ db }: Database) {
  const mark = db.select({ row: usageMark.lastRecord }).from(usageMark).where(theMark).prepare();
  const last = db
    .select({ row: sql`coalesce(max(rowid), 0)`.mapWith(Number) })
    .from(usageRecords)
    .prepare();
  return {
    /** The row of the last record that the series hold. */
    mark: async () => (await mark.get())?.row ?? 0,
    /** The row of the last record there is. */
    last: async () => (await last.get())?.row ?? 0,
  };
}
