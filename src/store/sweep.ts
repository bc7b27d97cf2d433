// Removes rows in steps, and takes SQLite's lock only where there are any.

import { and, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './contract.ts';

/** Other writers wait for a step. */
const STEP_ROWS = 1_000;

/**
 * Removes the rows that match `isOver`, or all of them. Not inside a transaction, which would join
 * the steps. The table needs a primary key of one column.
 */
export async function sweepTable(
  { db }: Database,
  table: SQLiteTable,
  isOver: SQL | undefined,
): Promise<void> {
  const key = Object.values(getTableColumns(table)).find(({ primary }) => primary);
  if (key === undefined) throw new Error('The table has no primary key of one column.');
  const found = db.select({ found: sql`1` }).from(table).where(isOver).limit(1);
  // Until none is found: a step removes fewer rows where another transaction has removed some of it.
  while ((await found.get()) !== undefined) {
    const step = db.select({ key }).from(table).where(isOver).limit(STEP_ROWS);
    // Another transaction may renew a row between the two. Without `is true`, SQLite may use an
    // index of the condition instead of the keys, and reads all rows of an account in each step.
    const isStillOver = isOver && sql`(${isOver}) is true`;
    const isGone = and(inArray(key, step), isStillOver);
    await db.delete(table).where(isGone).run();
  }
}
