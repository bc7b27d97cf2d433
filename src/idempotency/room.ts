// Keeps the rows of requests with an `Idempotency-Key` within their bounds. Answers make room
// first: a row without one still prevents a second charge. Rows of other processes count after the
// next read.

import type { prepareStatements, Sum } from './statements.ts';

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

/** Above this many accounts, cached sums are dropped and read again. */
const ACCOUNTS_MAX = 10_000;

type Statements = ReturnType<typeof prepareStatements>;

export function createRoom(statements: Statements, bounds: IdempotencyBounds) {
  /** Cached, so that no answer computes them. */
  const sums = new Map<string, Sum>();
  let total: Sum | undefined;

  async function sumOf(accountId: string): Promise<Sum> {
    const known = sums.get(accountId);
    if (known !== undefined) return known;
    if (sums.size >= ACCOUNTS_MAX) sums.clear();
    const sum = await statements.sumOf(accountId);
    sums.set(accountId, sum);
    return sum;
  }

  async function totalSum(): Promise<Sum> {
    total ??= await statements.sum();
    return total;
  }

  /** An unknown sum is read when it is needed. */
  function count(accountId: string, rows: number, bytes: number): void {
    const known = sums.get(accountId);
    if (known !== undefined) sums.set(accountId, plus(known, rows, bytes));
    if (total !== undefined) total = plus(total, rows, bytes);
  }

  function forget(): void {
    sums.clear();
    total = undefined;
  }

  /**
   * Drops the oldest answers until the others fit: a large one may need the room of thousands of small
   * ones. Sums that count missing rows are wrong, and are read again.
   */
  async function shrinkBytes(
    sum: () => Promise<Sum>,
    most: number,
    accountId?: string,
  ): Promise<void> {
    for (;;) {
      const excess = (await sum()).bytes - most;
      if (excess <= 0) return;
      if (await dropOldest(excess, accountId)) continue;
      forget();
      return;
    }
  }

  /** As above, for rows without an answer. */
  async function shrinkRows(
    sum: () => Promise<Sum>,
    most: number,
    accountId?: string,
  ): Promise<void> {
    for (let left = REMOVED_MAX; left > 0 && (await sum()).rows > most; left -= 1) {
      if (await removeOldest(accountId)) continue;
      forget();
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
    if (dropped === rows.length) for (const row of rows) count(row.accountId, 0, -row.bytes);
    else forget();
    return true;
  }

  async function removeOldest(accountId?: string): Promise<boolean> {
    const { removeLost, removeLostOf } = statements;
    const row = await (accountId === undefined ? removeLost() : removeLostOf(accountId));
    if (row !== undefined) count(row.accountId, -1, -row.bytes);
    return row !== undefined;
  }

  return {
    count,
    /** The rows of other processes changed: sums are read again when they are needed. */
    forget,
    /** Makes room after an account got a row or an answer. */
    async make(accountId: string): Promise<void> {
      const { accountBytes, accountRows, totalBytes, totalRows } = bounds;
      const own = () => sumOf(accountId);
      await shrinkBytes(own, accountBytes, accountId);
      await shrinkRows(own, accountRows, accountId);
      await shrinkBytes(totalSum, totalBytes);
      await shrinkRows(totalSum, totalRows);
    },
  };
}

function plus(sum: Sum, rows: number, bytes: number): Sum {
  return { rows: sum.rows + rows, bytes: sum.bytes + bytes };
}
