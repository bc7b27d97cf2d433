// The rows of the reasoning store, bounded in size and age. Called by the store alone, with bytes
// that mean nothing here. After every `put` all bounds on sizes hold; the oldest rows go first.

import type { Database } from '../store/database.ts';
import { prepareStatements, type Removed } from './statements.ts';

export type Bounds = {
  readonly entryBytes: number;
  readonly accountBytes: number;
  readonly totalBytes: number;
  readonly ageMs: number;
};

/** What a row takes beside its bytes: digest, account and two index entries. */
const ROW_BYTES = 256;

/** Rows that one sweep removes at most, in about a millisecond. */
const SWEEP_ROWS = 32;

export function createRows(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly bounds: Bounds;
}) {
  const { database, clock, bounds } = dependencies;
  const statements = prepareStatements(database);
  /** Sums of sizes, so that no answer has to make them: of all, and of the accounts that came by. */
  const accountSums = new Map<string, number>();
  let totalSum: number | undefined = statements.size();

  /** A sum that is not known will be read when it is needed, with this row in it or not. */
  function count(accountId: string, change: number): void {
    const sum = accountSums.get(accountId);
    if (sum !== undefined) accountSums.set(accountId, sum + change);
    if (totalSum !== undefined) totalSum += change;
  }

  function countOut(row: Removed | undefined): boolean {
    if (row !== undefined) count(row.accountId, -row.size);
    return row !== undefined;
  }

  function accountBytes(accountId: string): number {
    const sum = accountSums.get(accountId) ?? statements.sizeOf(accountId);
    accountSums.set(accountId, sum);
    return sum;
  }

  function totalBytes(): number {
    totalSum ??= statements.size();
    return totalSum;
  }

  function forgetSums(): void {
    accountSums.clear();
    totalSum = undefined;
  }

  /** Sums that speak of rows where there are none are wrong, and made anew. */
  function evict(isFull: () => boolean, removeOne: () => Removed | undefined): void {
    while (isFull()) {
      if (countOut(removeOne())) continue;
      forgetSums();
      return;
    }
  }

  return {
    /** Puts a row in place of the one with the same digest, unless it is too large for one. */
    put(accountId: string, digest: Uint8Array, sealed: Uint8Array): void {
      if (sealed.length > bounds.entryBytes) return;
      const size = sealed.length + ROW_BYTES;
      try {
        countOut(statements.removeSame(digest));
        statements.insert({ accountId, digest, createdAt: clock(), size, sealed });
        count(accountId, size);
        evict(
          () => accountBytes(accountId) > bounds.accountBytes,
          () => statements.removeOldestOf(accountId),
        );
        evict(() => totalBytes() > bounds.totalBytes, statements.removeOldest);
      } catch (error) {
        forgetSums();
        throw error;
      }
    },
    get(digest: Uint8Array): Uint8Array | undefined {
      const row = statements.find(digest);
      return row !== undefined && row.createdAt > clock() - bounds.ageMs ? row.sealed : undefined;
    },
    /** Rows may have been removed elsewhere: sums are read anew when they are needed. */
    recount: forgetSums,
    /** Removes a few of the rows that are too old. */
    sweep(): void {
      const now = clock();
      for (let left = SWEEP_ROWS; left > 0; left -= 1) {
        // What a wrong clock has dated into the future would stay in the way of all others.
        const row = statements.removeOldestOutside(now - bounds.ageMs + 1, now + bounds.ageMs);
        if (!countOut(row)) return;
      }
    },
  };
}
