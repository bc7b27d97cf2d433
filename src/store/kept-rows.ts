// Rows that are kept for accounts until they expire: their sums, cached so that no answer computes
// them, and their removal. Row numbers follow the order of insertion, so the oldest row has the
// lowest number. Each store has its own rule for what makes room.

import { and, eq, notBetween, sql } from 'drizzle-orm';
import type { Database } from './contract.ts';
import type { idempotentRequests, reasoning } from './tables.ts';

type KeptTable = typeof reasoning | typeof idempotentRequests;

/** How much is kept. `bytes` is the sum of the sizes that the rows name. */
export type Sum = { readonly rows: number; readonly bytes: number };

type SumRow = [rows: bigint, bytes: bigint];

/** The most rows that one sweep removes, in about a millisecond. */
const SWEEP_ROWS = 32;

/** Above this many accounts, cached sums are dropped and read again. */
const ACCOUNTS_MAX = 10_000;

export type KeptRows = ReturnType<typeof createKeptRows>;

/** Prepares its statements once. The table must exist. */
export function createKeptRows(dependencies: {
  readonly database: Database;
  readonly table: KeptTable;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly ageMs: number;
}) {
  const { database, table, clock, ageMs } = dependencies;
  const { db } = database;
  const value = sql.placeholder;
  const isOldest = sql`${table.id} = (select min(${table.id}) from ${table})`;
  const readAll = database.prepare<object, SumRow>(db.select(sumsOf(table)).from(table));
  const readOwn = database.prepare<{ accountId: string }, SumRow>(
    db
      .select(sumsOf(table))
      .from(table)
      .where(eq(table.accountId, value('accountId'))),
  );
  const readOldest = database.prepare<object, [createdAt: bigint]>(
    db.select({ createdAt: table.createdAt }).from(table).where(isOldest),
  );
  const removeOutside = database.prepare<
    { from: number; to: number },
    [accountId: string, size: bigint]
  >(
    db
      .delete(table)
      .where(and(isOldest, notBetween(table.createdAt, value('from'), value('to'))))
      .returning({ accountId: table.accountId, size: table.size }),
  );
  const sums = new Map<string, Sum>();
  let total: Sum | undefined;

  /** An unknown sum is read when it is needed, and then includes this row or not. */
  function count(accountId: string, rows: number, bytes: number): void {
    const known = sums.get(accountId);
    if (known !== undefined) sums.set(accountId, plus(known, rows, bytes));
    if (total !== undefined) total = plus(total, rows, bytes);
  }

  return {
    /** Of an account, or of all. */
    async sum(accountId?: string): Promise<Sum> {
      if (accountId === undefined) {
        total ??= sumFrom(await readAll.get({}));
        return total;
      }
      const known = sums.get(accountId);
      if (known !== undefined) return known;
      if (sums.size >= ACCOUNTS_MAX) sums.clear();
      const sum = sumFrom(await readOwn.get({ accountId }));
      sums.set(accountId, sum);
      return sum;
    },
    count,
    /** Returns whether there was a row to count out. */
    countOut(removed: { readonly accountId: string; readonly bytes: number } | undefined): boolean {
      if (removed !== undefined) count(removed.accountId, -1, -removed.bytes);
      return removed !== undefined;
    },
    /** Rows may have changed elsewhere: sums are read again when they are needed. */
    forget(): void {
      sums.clear();
      total = undefined;
    },
    /** Whether the oldest row has expired. */
    async isDue(): Promise<boolean> {
      const row = await readOldest.get({});
      return row !== undefined && Math.abs(clock() - Number(row[0])) >= ageMs;
    },
    /** Removes a few expired rows. */
    async sweep(): Promise<void> {
      const now = clock();
      for (let left = SWEEP_ROWS; left > 0; left -= 1) {
        // Rows dated into the future by a wrong clock would otherwise never expire.
        const row = await removeOutside.get({ from: now - ageMs + 1, to: now + ageMs });
        if (row === undefined) return;
        count(row[0], -1, -Number(row[1]));
      }
    },
  };
}

/** How much is kept, for an operator. */
export async function readSum({ db }: Database, table: KeptTable): Promise<Sum> {
  return (await db.select(sumsOf(table)).from(table).get()) ?? { rows: 0, bytes: 0 };
}

function sumsOf(table: KeptTable) {
  return {
    rows: sql`count(*)`.mapWith(Number),
    bytes: sql`coalesce(sum(${table.size}), 0)`.mapWith(Number),
  };
}

function sumFrom(row: SumRow | undefined): Sum {
  return { rows: Number(row?.[0] ?? 0), bytes: Number(row?.[1] ?? 0) };
}

function plus(sum: Sum, rows: number, bytes: number): Sum {
  return { rows: sum.rows + rows, bytes: sum.bytes + bytes };
}
