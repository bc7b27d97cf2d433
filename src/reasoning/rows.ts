// The rows of the reasoning store, bounded in size and age, with opaque content. After every `put`
// all size bounds hold as far as this process knows; rows of other processes count after the next
// read. Evicts the oldest rows first.

import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
import { prepareStatements, type Removed } from './statements.ts';

export type Bounds = {
  readonly entryBytes: number;
  readonly accountBytes: number;
  readonly totalBytes: number;
  readonly ageMs: number;
};

/** The overhead of a row: digest, account and two index entries. */
const ROW_BYTES = 256;

/** The most rows that one sweep removes, in about a millisecond. */
const SWEEP_ROWS = 32;

/** The most rows that one `put` removes for each bound, since an answer waits for it. */
const EVICTED_ROWS = 1_000;

export async function createRows(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly bounds: Bounds;
}) {
  const { database, clock, bounds } = dependencies;
  const statements = prepareStatements(database);
  /** Cached sums of sizes, so that no answer computes them: of all, and of recent accounts. */
  const accountSums = new Map<string, number>();
  let totalSum: number | undefined = await statements.size();
  /** Serializes changes, because the sums are valid only between them. */
  const inTurn = createSerialize();

  /** An unknown sum is read when it is needed, and then includes this row or not. */
  function count(accountId: string, change: number): void {
    const sum = accountSums.get(accountId);
    if (sum !== undefined) accountSums.set(accountId, sum + change);
    if (totalSum !== undefined) totalSum += change;
  }

  function countOut(row: Removed | undefined): boolean {
    if (row !== undefined) count(row.accountId, -row.size);
    return row !== undefined;
  }

  async function accountBytes(accountId: string): Promise<number> {
    const sum = accountSums.get(accountId) ?? (await statements.sizeOf(accountId));
    accountSums.set(accountId, sum);
    return sum;
  }

  async function totalBytes(): Promise<number> {
    totalSum ??= await statements.size();
    return totalSum;
  }

  function forgetSums(): void {
    accountSums.clear();
    totalSum = undefined;
  }

  /** Sums that count missing rows are wrong, and are read again. */
  async function evict(
    isFull: () => Promise<boolean>,
    removeOne: () => Promise<Removed | undefined>,
  ): Promise<void> {
    for (let left = EVICTED_ROWS; left > 0 && (await isFull()); left -= 1) {
      if (countOut(await removeOne())) continue;
      forgetSums();
      return;
    }
  }

  async function put(accountId: string, digest: Uint8Array, sealed: Uint8Array): Promise<void> {
    const size = sealed.length + ROW_BYTES;
    // In one round trip: the ledger waits as long as this transaction is open.
    const [same] = await Promise.all([
      statements.removeSame(digest),
      statements.insert({ accountId, digest, createdAt: clock(), size, sealed }),
    ]);
    countOut(same);
    count(accountId, size);
    await evict(
      async () => (await accountBytes(accountId)) > bounds.accountBytes,
      () => statements.removeOldestOf(accountId),
    );
    await evict(async () => (await totalBytes()) > bounds.totalBytes, statements.removeOldest);
  }

  async function sweep(): Promise<void> {
    const now = clock();
    for (let left = SWEEP_ROWS; left > 0; left -= 1) {
      // Rows dated into the future by a wrong clock would otherwise never expire.
      const row = await statements.removeOldestOutside(now - bounds.ageMs + 1, now + bounds.ageMs);
      if (!countOut(row)) return;
    }
  }

  /** A reader finds either the old or the new row. */
  async function changing(work: () => Promise<void>): Promise<void> {
    try {
      // Nodes do not wait for each other: only this process's sums decide anything here.
      await database.concurrently(work);
    } catch (error) {
      forgetSums();
      throw error;
    }
  }

  return {
    /** Replaces the row with the same digest, unless the new one is too large. */
    async put(accountId: string, digest: Uint8Array, sealed: Uint8Array): Promise<void> {
      if (sealed.length > bounds.entryBytes) return;
      await inTurn(() => changing(() => put(accountId, digest, sealed)));
    },
    async get(digest: Uint8Array): Promise<Uint8Array | undefined> {
      const row = await statements.find(digest);
      return row !== undefined && row.createdAt > clock() - bounds.ageMs ? row.sealed : undefined;
    },
    /** Rows may have been removed elsewhere: sums are read again when they are needed. */
    recount: () => void inTurn(async () => forgetSums()),
    /** Removes a few expired rows; locks nothing where there are none. */
    sweep: () =>
      inTurn(async () => {
        const oldestAt = await statements.oldestAt();
        const isDue = oldestAt !== undefined && Math.abs(clock() - oldestAt) >= bounds.ageMs;
        if (isDue) await changing(sweep);
      }),
  };
}
