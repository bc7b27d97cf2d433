// Checks a copy of a database before anything relies on it: the file, its migrations and triggers,
// and its books.

import { findDifferences } from '../ledger/audit.ts';
import type { SqliteDatabase } from '../store/database.ts';
import { droppedTriggers, migrationStatus } from '../store/migrate.ts';
import { isIntact, openCopy } from '../store/sqlite-copy.ts';

export type CopyCheck =
  | { readonly kind: 'damaged' }
  /** Intact, and no database of Tollgate: an empty file is one of SQLite. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'intact'; readonly differences: Differences };

/** What the audit found in the books; `null` for those of an earlier version, which it cannot read. */
export type Differences = number | null;

/** Reads the whole file and audits its books. Throws `StoreError` where it cannot be opened. */
export async function checkCopy(path: string): Promise<CopyCheck> {
  const copy = openCopy(path);
  try {
    return isIntact(copy, 'integrity') ? await checkBooks(copy) : { kind: 'damaged' };
  } finally {
    await copy.close();
  }
}

async function checkBooks(copy: SqliteDatabase): Promise<CopyCheck> {
  const { applied, pending } = await migrationStatus(copy);
  if (applied.length === 0) return { kind: 'foreign' };
  if (pending.length > 0) return { kind: 'intact', differences: null };
  let differences = (await droppedTriggers(copy)).length;
  for await (const _ of findDifferences(copy)) differences += 1;
  return { kind: 'intact', differences };
}
