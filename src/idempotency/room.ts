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

/** The most rows that one call changes for each bound. */
const CHANGED_MAX = 100;

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

  /** Sums that count missing rows are wrong, and are read again. */
  async function shrink(
    isFull: () => Promise<boolean>,
    takeOne: () => Promise<boolean>,
  ): Promise<void> {
    for (let left = CHANGED_MAX; left > 0 && (await isFull()); left -= 1) {
      if (await takeOne()) continue;
      forget();
      return;
    }
  }

  async function dropOldest(accountId?: string): Promise<boolean> {
    const { oldestKept, oldestKeptOf, drop } = statements;
    const row = await (accountId === undefined ? oldestKept() : oldestKeptOf(accountId));
    if (row === undefined || !(await drop(row.id))) return false;
    count(row.accountId, 0, -row.bytes);
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
      const [own, all] = [() => sumOf(accountId), totalSum];
      await shrink(
        async () => (await own()).bytes > accountBytes,
        () => dropOldest(accountId),
      );
      await shrink(
        async () => (await own()).rows > accountRows,
        () => removeOldest(accountId),
      );
      await shrink(
        async () => (await all()).bytes > totalBytes,
        () => dropOldest(),
      );
      await shrink(
        async () => (await all()).rows > totalRows,
        () => removeOldest(),
      );
    },
  };
}

function plus(sum: Sum, rows: number, bytes: number): Sum {
  return { rows: sum.rows + rows, bytes: sum.bytes + bytes };
}
