// For a check and the write that stands on it, where neither an index nor a condition of the write can
// hold them together: whoever locks the same name waits until the other's transaction has ended. SQLite
// needs none, because a transaction that may write is alone there.

import { type SQL, sql } from 'drizzle-orm';
import type { Database } from './contract.ts';

/**
 * Call inside a transaction, before it reads what it is to decide by, and before it writes: who holds
 * a row, or the audit trail, must not wait for a name. Names of several places are told apart by
 * their first word.
 */
export async function lockNames(
  { dialect, rows }: Database,
  ...names: readonly string[]
): Promise<void> {
  if (dialect === 'sqlite') return;
  // In the same order for everybody, so that no two wait for each other.
  const locks = [...names].sort().map(lockOf);
  await rows(sql`select ${sql.join(locks, sql`, `)}`);
}

function lockOf(name: string): SQL {
  return sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}
