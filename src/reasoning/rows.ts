// The rows of the reasoning store, bounded in size and age. Called by the store alone, with bytes
// that mean nothing here. After every `put` all bounds on sizes hold, as far as this process knows:
// what others have put since it looked is counted when it looks again. The oldest rows go first.

import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
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

/** Rows that one `put` removes at most for each bound, since an answer waits for it. */
const EVICTED_ROWS = 1_000;

export async function createRows(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly bounds: Bounds;
}) {
  const { database, clock, bounds } = dependencies;
  const statements = prepareStatements(database);
  /** Sums of sizes, so that no answer has to make them: of all, and of the accounts that came by. */
  const accountSums = new Map<string, number>();
  let totalSum: number | undefined = await statements.size();
  /** The sums are right between two changes, so changes do not overlap. */
  const inTurn = createSerialize();

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

  /** Sums that count rows where there are none are wrong, and read again. */
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
    // In one round trip: the ledger waits for as long as this transaction is open.
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
      // What a wrong clock has dated into the future would stay in the way of all others.
      const row = await statements.removeOldestOutside(now - bounds.ageMs + 1, now + bounds.ageMs);
      if (!countOut(row)) return;
    }
  }

  /** A reader finds the row of before or the one of after, and never none. */
  async function changing(work: () => Promise<void>): Promise<void> {
    try {
      // Nodes do not wait for each other: nothing is decided here but by sums of this process.
      await database.concurrently(work);
    } catch (error) {
      forgetSums();
      throw error;
    }
  }

  return {
    /** Puts a row in place of the one with the same digest, unless it is too large for one. */
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
    /** Removes a few of the rows that are too old; where there is none, it locks nothing. */
    sweep: () =>
      inTurn(async () => {
        const oldestAt = await statements.oldestAt();
        const isDue = oldestAt !== undefined && Math.abs(clock() - oldestAt) >= bounds.ageMs;
        if (isDue) await changing(sweep);
      }),
  };
}
