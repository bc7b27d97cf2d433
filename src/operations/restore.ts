// Compares the present database with a copy that shall replace it: what would be lost.

import { type Micro, micro } from '../core/money.ts';
import type { SqliteDatabase } from '../store/database.ts';

/** What the present database has and the copy lacks. Money is in 10⁻⁶ service token. */
export type Newer = {
  readonly requests: number;
  /** What those requests took from balances. */
  readonly debited: Micro;
  readonly movements: number;
  /** The sum of those credits, grants and corrections. */
  readonly credited: Micro;
  readonly accounts: number;
  readonly keys: number;
  /** Keys that are revoked now and are active in the copy. */
  readonly revocations: number;
  /** The end of the last entry of the copy, in Unix milliseconds; absent where it has none. */
  readonly copyEndsAt: number | undefined;
  /** Entries of the copy that the present database lacks. */
  readonly foreign: number;
};

/** Sums are computed in two halves, because a large sum may overflow an integer. */
const HALF = 1_000_000_000n;

type Sum = { readonly rows: bigint; readonly high: bigint; readonly low: bigint };

/** Throws SQLite's error where one of the two cannot be read. */
export function compareWithCopy(
  { connection }: Pick<SqliteDatabase, 'connection'>,
  copy: string,
): Newer {
  const sum = (amount: string, from: string): { rows: number; amount: Micro } => {
    const found = connection
      .query<Sum, []>(
        `SELECT count(*) AS rows, coalesce(sum(${amount} / ${HALF}), 0) AS high,
          coalesce(sum(${amount} % ${HALF}), 0) AS low FROM ${from}`,
      )
      .get();
    const { rows = 0n, high = 0n, low = 0n } = found ?? {};
    return { rows: Number(rows), amount: micro(high * HALF + low) };
  };
  const count = (from: string): number => sum('0', from).rows;
  const lacks = (table: string, key: string, here = 'main', there = 'copy'): string =>
    `${here}.${table} AS own WHERE NOT EXISTS
      (SELECT 1 FROM ${there}.${table} AS other WHERE other.${key} = own.${key})`;

  connection.run('ATTACH DATABASE ? AS copy', [copy]);
  try {
    const requests = sum('(charged - loss)', lacks('requests', 'id'));
    const movements = sum('amount', lacks('movements', 'transfer_id'));
    const last = connection
      .query<{ at: bigint | null }, []>(
        `SELECT max(at) AS at FROM (SELECT max(started_at + duration_ms) AS at FROM copy.requests
          UNION ALL SELECT max(at) FROM copy.movements)`,
      )
      .get()?.at;
    return {
      requests: requests.rows,
      debited: requests.amount,
      movements: movements.rows,
      credited: movements.amount,
      accounts: count(lacks('accounts', 'id')),
      keys: count(lacks('api_keys', 'id')),
      revocations: count(
        `main.api_keys AS own JOIN copy.api_keys AS other ON other.id = own.id
          WHERE own.revoked_at IS NOT NULL AND other.revoked_at IS NULL`,
      ),
      copyEndsAt: last === null || last === undefined ? undefined : Number(last),
      foreign:
        count(lacks('requests', 'id', 'copy', 'main')) +
        count(lacks('movements', 'transfer_id', 'copy', 'main')),
    };
  } finally {
    connection.run('DETACH DATABASE copy');
  }
}
