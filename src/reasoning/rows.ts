// The rows of the reasoning store, bounded in size and age, with opaque content. After every `put`
// all size bounds hold as far as this process knows; rows of other processes count after the next
// read. Evicts the oldest rows first.

import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
import { createKeptRows } from '../store/kept-rows.ts';
import { reasoning } from '../store/tables.ts';
import { prepareStatements, type Removed } from './statements.ts';

export type Bounds = {
  readonly entryBytes: number;
  readonly accountBytes: number;
  readonly totalBytes: number;
  readonly ageMs: number;
};

/** The overhead of a row: digest, account and two index entries. */
const ROW_BYTES = 256;

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
  const kept = createKeptRows({ database, table: reasoning, clock, ageMs: bounds.ageMs });
  // Read at the start, so that no answer waits for it.
  await kept.sum();
  /** Serializes changes, because the sums are valid only between them. */
  const inTurn = createSerialize();

  /** Sums that count missing rows are wrong, and are read again. */
  async function evict(
    isFull: () => Promise<boolean>,
    removeOne: () => Promise<Removed | undefined>,
  ): Promise<void> {
    for (let left = EVICTED_ROWS; left > 0 && (await isFull()); left -= 1) {
      if (kept.countOut(await removeOne())) continue;
      kept.forget();
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
    kept.countOut(same);
    kept.count(accountId, 1, size);
    await evict(
      async () => (await kept.sum(accountId)).bytes > bounds.accountBytes,
      () => statements.removeOldestOf(accountId),
    );
    await evict(async () => (await kept.sum()).bytes > bounds.totalBytes, statements.removeOldest);
  }

  /** A reader finds either the old or the new row. */
  async function changing(work: () => Promise<void>): Promise<void> {
    try {
      // Nodes do not wait for each other: only this process's sums decide anything here.
      await database.concurrently(work);
    } catch (error) {
      kept.forget();
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
    /** Rows may have been removed elsewhere. */
    recount: () => void inTurn(async () => kept.forget()),
    /** Removes a few expired rows; locks nothing where there are none. */
    sweep: () =>
      inTurn(async () => {
        if (await kept.isDue()) await changing(kept.sweep);
      }),
  };
}
