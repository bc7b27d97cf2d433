// Removes expired rows, and takes SQLite's lock only where there are any.

import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './contract.ts';

export async function sweepTable(
  { db }: Database,
  table: SQLiteTable,
  isOver: SQL | undefined,
): Promise<void> {
  const found = await db.select({ found: sql`1` }).from(table).where(isOver).limit(1).get();
  if (found !== undefined) await db.delete(table).where(isOver).run();
}
