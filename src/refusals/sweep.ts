// Removes refused requests that are older than a week, and the oldest of accounts that have more
// than their share.

import { and, count, desc, lt, lte } from 'drizzle-orm';
import { DAY_MS } from '../core/calendar.ts';
import type { Database } from '../store/contract.ts';
import { refusedRequests } from '../store/refused-tables.ts';
import { sweepTable } from '../store/sweep.ts';
import { NO_ACCOUNT, ownedBy } from './list.ts';

export const KEPT_MS = 7 * DAY_MS;

export type RefusalBounds = { readonly accountRows: number; readonly totalRows: number };

/** Some 30 MB with all indexes. */
export const REFUSAL_BOUNDS: RefusalBounds = { accountRows: 2_000, totalRows: 100_000 };

/** The leader calls it at intervals. */
export async function sweepRefusals(
  database: Database,
  nowMs: number,
  bounds: RefusalBounds = REFUSAL_BOUNDS,
): Promise<void> {
  await sweepTable(database, refusedRequests, lt(refusedRequests.at, nowMs - KEPT_MS));
  const accounts = await database.db
    .select({ accountId: refusedRequests.accountId, rows: count() })
    .from(refusedRequests)
    .groupBy(refusedRequests.accountId)
    .all();
  const share = fairShare(
    accounts.map(({ rows }) => rows),
    bounds,
  );
  for (const { accountId, rows } of accounts) {
    if (rows > share) await removeOldest(database, accountId, share);
  }
}

async function removeOldest(
  { db }: Database,
  accountId: string | null,
  kept: number,
): Promise<void> {
  const { at } = refusedRequests;
  const isOwn = ownedBy(accountId ?? NO_ACCOUNT);
  const first = await db
    .select({ at })
    .from(refusedRequests)
    .where(isOwn)
    .orderBy(desc(at))
    .limit(1)
    .offset(kept)
    .get();
  if (first !== undefined) await db.delete(refusedRequests).where(and(isOwn, lte(at, first.at)));
}

/**
 * The most rows per account with which all accounts together stay within the total: those with few
 * keep all of theirs, however many rows others have.
 */
export function fairShare(
  rows: readonly number[],
  { accountRows, totalRows }: RefusalBounds,
): number {
  let left = totalRows;
  let accounts = rows.length;
  for (const own of rows.toSorted((a, b) => a - b)) {
    const share = Math.floor(left / accounts);
    if (own > share) return Math.min(accountRows, share);
    left -= own;
    accounts -= 1;
  }
  return accountRows;
}
