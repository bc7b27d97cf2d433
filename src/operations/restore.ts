// Compares the present database with a copy that shall replace it: what would be lost.

import { add, type Micro, micro } from '../core/money.ts';
import { auditChange, type Change } from '../identity/audit.ts';
import type { SqliteDatabase } from '../store/database.ts';
import { writeNote } from '../store/server-notes.ts';
import { challenges, sessions, signInTokens } from '../store/sign-in-tables.ts';

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
  /** Keys, tokens of the operators' API and invitations that the copy has as valid. */
  readonly revocations: number;
  /** Blocks, suspended accounts, and keys that are paused or end, where the copy is without that. */
  readonly restrictions: number;
  /** Operators of the copy who were removed, or have another role or second factor. */
  readonly operators: number;
  /** Accounts that were deleted and have their owner's data in the copy. */
  readonly deletions: number;
  /** The end of the last entry of the copy, in Unix milliseconds; absent where it has none. */
  readonly copyEndsAt: number | undefined;
  /** Entries of the copy that the present database lacks. */
  readonly foreign: number;
};

/** Sums are computed in two halves, because a large sum may overflow an integer. */
const HALF = 1_000_000_000n;

/** By the address: an operator who was removed and invited again has another id. */
const CHANGED_OPERATORS = `copy.sign_in_users AS other
  LEFT JOIN main.sign_in_users AS own ON own.realm = other.realm AND own.email = other.email
  LEFT JOIN copy.sign_in_second_factors AS before ON before.user_id = other.id
  LEFT JOIN main.sign_in_second_factors AS after ON after.user_id = own.id
  WHERE other.realm = 'operator' AND (own.id IS NULL OR own.role IS NOT other.role
    OR own.two_factor_enabled <> other.two_factor_enabled OR after.secret IS NOT before.secret)`;

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
  /** Rows of both, under a condition on the `own` and the `other`. */
  const changed = (table: string, condition: string): number =>
    count(
      `main.${table} AS own JOIN copy.${table} AS other ON other.id = own.id WHERE ${condition}`,
    );
  const setSince = (table: string, column = 'revoked_at'): number =>
    changed(table, `own.${column} IS NOT NULL AND other.${column} IS NULL`);
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
    const archived = newerArchived({ connection });
    return {
      requests: requests.rows + archived.requests,
      debited: add(requests.amount, archived.debited),
      movements: movements.rows,
      credited: movements.amount,
      accounts: count(lacks('accounts', 'id')),
      keys: count(lacks('api_keys', 'id')),
      revocations:
        setSince('api_keys') +
        setSince('operator_tokens') +
        setSince('invites') +
        setSince('invites', 'used_at'),
      restrictions:
        count(lacks('blocks', 'id')) +
        changed('accounts', `own.standing <> 'active' AND other.standing = 'active'`) +
        setSince('api_keys', 'paused_at') +
        changed('api_keys', 'own.expires_at < coalesce(other.expires_at, own.expires_at + 1)'),
      operators: count(CHANGED_OPERATORS),
      deletions: changed(
        'accounts',
        `own.email LIKE '%@deleted.invalid' AND other.email NOT LIKE '%@deleted.invalid'`,
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

/**
 * Prepares a copy that replaces the database: ends all sessions, sign-ins in progress and mailed
 * links, because those that were ended since would be valid again, and writes to its audit trail that
 * it was restored.
 */
export async function markRestored(
  change: Change,
  file: string,
  detail: Parameters<typeof auditChange>[3],
): Promise<void> {
  const { database } = change;
  await database.transaction(async (tx) => {
    for (const table of [sessions, challenges, signInTokens]) await tx.delete(table).run();
    // What is beside it now may be of the database that it replaces.
    await writeNote(database, 'began', String(change.clock()), change.clock());
    await auditChange(change, 'database.restored', file, detail);
  });
}

type ArchivedSince = Readonly<
  Record<'sequences' | 'movements' | 'moved' | 'rows' | 'debited' | 'opening' | 'closing', bigint>
>;

/**
 * The requests that the copy lacks and whose rows are in archives alone: per account, what lies
 * between the last receipt of the copy and the cut, without movements and rows that are still there.
 */
function newerArchived({ connection }: Pick<SqliteDatabase, 'connection'>) {
  const since = 'own.account = a.account AND own.sequence > a.since AND own.sequence <= a.cut';
  const of = (sum: string, table: string): string =>
    `(SELECT coalesce(${sum}, 0) FROM main.${table} AS own WHERE ${since})`;
  const accounts = connection
    .query<ArchivedSince, []>(
      `WITH a AS (
        SELECT m.account, m.last_sequence AS cut, m.closing,
          coalesce(there.sequence, 0) AS since, coalesce(there.posted, 0) AS opening
        FROM main.archived_months m JOIN main.balances here ON here.number = m.account
          LEFT JOIN copy.balances there ON there.account_id = here.account_id
        WHERE m.first_sequence = (SELECT max(first_sequence) FROM main.archived_months
          WHERE account = m.account))
      SELECT a.cut - a.since AS sequences, a.opening, a.closing,
        ${of('count(*)', 'movements')} AS movements, ${of('sum(own.amount)', 'movements')} AS moved,
        ${of('count(*)', 'requests')} AS rows,
        ${of('sum(own.charged - own.loss)', 'requests')} AS debited
      FROM a WHERE a.cut > a.since`,
    )
    .all();
  let requests = 0n;
  let debited = 0n;
  for (const account of accounts) {
    requests += account.sequences - account.movements - account.rows;
    debited += account.opening + account.moved - account.closing - account.debited;
  }
  return { requests: Number(requests), debited: micro(debited) };
}
