// Keeps the rows of requests with an `Idempotency-Key` within their bounds. Answers make room
// first: a row without one still prevents a second charge. Rows of other processes count after the
// next read.

import type { KeptRows } from '../store/kept-rows.ts';
import type { prepareStatements } from './statements.ts';

export type IdempotencyBounds = {
  /** Of one sealed answer. */
  readonly entryBytes: number;
  /** Of the sealed answers of an account, and of all. */
  readonly accountBytes: number;
  readonly totalBytes: number;
  /** Of an account, and of all. */
  readonly accountRows: number;
  readonly totalRows: number;
  readonly ageMs: number;
  /** Of the answer of a request that is named by its body. */
  readonly bodyAgeMs: number;
};

/** The most answers that one statement drops. */
const DROPPED_MAX = 100;

/** The most rows that one call removes for each bound. It adds one. */
const REMOVED_MAX = 100;

type Statements = ReturnType<typeof prepareStatements>;

export function createRoom(statements: Statements, kept: KeptRows, bounds: IdempotencyBounds) {
  /**
   * Drops the oldest answers until the others fit: a large one may need the room of thousands of small
   * ones. Sums that count missing rows are wrong, and are read again.
   */
  async function shrinkBytes(most: number, accountId?: string): Promise<void> {
    for (;;) {
      const excess = (await kept.sum(accountId)).bytes - most;
      if (excess <= 0) return;
      if (await dropOldest(excess, accountId)) continue;
      kept.forget();
      return;
    }
  }

  /** As above, for rows without an answer. */
  async function shrinkRows(most: number, accountId?: string): Promise<void> {
    for (let left = REMOVED_MAX; left > 0 && (await kept.sum(accountId)).rows > most; left -= 1) {
      if (await removeOldest(accountId)) continue;
      kept.forget();
      return;
    }
  }

  /**
   * Drops as few of the oldest answers as have these bytes, or a batch of them. Returns whether there
   * was any.
   */
  async function dropOldest(bytes: number, accountId?: string): Promise<boolean> {
    const { oldestKept, oldestKeptOf, drop, dropOf } = statements;
    const oldest = await (accountId === undefined
      ? oldestKept(DROPPED_MAX)
      : oldestKeptOf(accountId, DROPPED_MAX));
    let left = bytes;
    const rows = oldest.filter((row) => {
      const isNeeded = left > 0;
      left -= row.bytes;
      return isNeeded;
    });
    const last = rows.at(-1);
    if (last === undefined) return false;
    const dropped = await (accountId === undefined ? drop(last.id) : dropOf(accountId, last.id));
    if (dropped === rows.length) for (const row of rows) kept.count(row.accountId, 0, -row.bytes);
    else kept.forget();
    return true;
  }

  async function removeOldest(accountId?: string): Promise<boolean> {
    const { removeLost, removeLostOf } = statements;
    return kept.countOut(await (accountId === undefined ? removeLost() : removeLostOf(accountId)));
  }

  /** Makes room after an account got a row or an answer. */
  return async function make(accountId: string): Promise<void> {
    const { accountBytes, accountRows, totalBytes, totalRows } = bounds;
    await shrinkBytes(accountBytes, accountId);
    await shrinkRows(accountRows, accountId);
    await shrinkBytes(totalBytes);
    await shrinkRows(totalRows);
  };
}
