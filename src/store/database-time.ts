// The database's clock, in Unix milliseconds, on which all nodes agree. Times of two nodes (leases,
// heartbeats) are compared in SQL with it, never with a node's own clock.

import { type SQL, sql } from 'drizzle-orm';
import type { Database, Dialect } from './contract.ts';

/**
 * The time at which a statement began, as an expression. It excludes waits for locks, so a lease is
 * never longer than its holder believes.
 */
export function databaseNow(dialect: Dialect): SQL<number> {
  return dialect === 'sqlite'
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`;
}

export async function readDatabaseTime(
  database: Pick<Database, 'dialect' | 'rows'>,
): Promise<number> {
  const now = databaseNow(database.dialect);
  const [row] = await database.rows<{ now: bigint | number | string }>(sql`select ${now} as now`);
  return Number(row?.now);
}
