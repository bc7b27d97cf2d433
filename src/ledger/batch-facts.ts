// What a batch does first on PostgreSQL, where other nodes write too: it locks the balances of all of
// its accounts, in one order for everybody, so that two nodes wait for each other and never in a
// circle. Under the locks it reads what its commands need to know. All of it is one journey.

import { type SQL, sql } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import type { Database, Query } from '../store/contract.ts';
import { holds } from '../store/money-tables.ts';
import { LEDGER_AT_WORK } from '../store/postgres/locks.ts';
import { OPEN_HOLD, type OpenHold, type OpenHoldRow, openHoldOf } from './hold-statements.ts';
import { recoverable } from './recover.ts';
import type { Request } from './request.ts';
import type { LastReceipt, Statements } from './statements.ts';

export type BatchFacts = {
  /** Whose each request is, as far as the books know it. */
  readonly owners: ReadonlyMap<string, string>;
  readonly openHolds: ReadonlyMap<string, OpenHold>;
  /** By account; undefined where an account has none yet. */
  readonly lastReceipts: ReadonlyMap<string, LastReceipt | undefined>;
};

type Named = { readonly accounts: string; readonly requests: string };

/** Called first in the transaction of a batch. */
export type LockBatch = (batch: readonly Request[]) => Promise<BatchFacts>;

const DIALECT = new SQLiteAsyncDialect();

export function createLockBatch(database: Database, statements: Statements): LockBatch {
  const listed = (name: keyof Named): SQL =>
    sql`select value from json_array_elements_text(cast(cast(${sql.placeholder(name)} as text) as json))`;
  const accounts = sql`${listed('accounts')} union
    select account_id from holds where request_id in (${listed('requests')})`;

  // Shared with every other batch, of all nodes; see `settled` of the store's contract.
  const announce = database.prepare<object>(
    written(sql`select pg_advisory_xact_lock_shared(${sql.raw(LEDGER_AT_WORK)})`),
  );
  const lock = database.prepare<Named, [accountId: string]>(
    written(sql`select account_id from balances where account_id in (${accounts})
      order by account_id for update`),
  );
  // A statement of its own, because it has to see what was committed while the locks were waited for.
  const findHolds = database.prepare<
    Named,
    [requestId: string, endedAt: bigint | null, ...hold: OpenHoldRow]
  >(
    database.db
      .select({ requestId: holds.requestId, endedAt: holds.endedAt, ...OPEN_HOLD })
      .from(holds)
      .where(sql`${holds.requestId} in (${listed('requests')})`),
  );
  const findReceipts = database.prepare<
    Named,
    [accountId: string, sequence: bigint, hash: string, body: string]
  >(
    written(sql`select b.account_id, r.sequence, r.hash, r.body from balances b
      cross join lateral (select sequence, hash, body from receipts
        where account_id = b.account_id order by sequence desc limit 1) r
      where b.account_id in (${accounts})`),
  );

  return async (batch) => {
    const named = await namesOf(batch, statements);
    const [, locked, found, last] = await Promise.all([
      announce.run({}),
      lock.all(named),
      findHolds.all(named),
      findReceipts.all(named),
    ]);
    const lastReceipts = new Map<string, LastReceipt | undefined>(
      locked.map(([accountId]) => [accountId, undefined]),
    );
    for (const [accountId, sequence, hash, body] of last) {
      lastReceipts.set(accountId, { sequence: Number(sequence), hash, body });
    }
    const owners = new Map<string, string>();
    const openHolds = new Map<string, OpenHold>();
    for (const [requestId, endedAt, ...row] of found) {
      const hold = openHoldOf(row);
      owners.set(requestId, hold.accountId);
      if (endedAt === null) openHolds.set(requestId, hold);
    }
    return { owners, openHolds, lastReceipts };
  };
}

/** Whose balances and which holds a batch is about. */
async function namesOf(batch: readonly Request[], statements: Statements): Promise<Named> {
  const accounts = new Set<string>();
  const requests = new Set<string>();
  for (const { name, command } of batch) {
    if (name === 'recover') {
      const open = await statements.openHoldsBefore(command.createdBefore);
      for (const requestId of recoverable(open, command)) requests.add(requestId);
    } else if (name === 'hold') {
      accounts.add(command.accountId);
      requests.add(command.requestId);
    } else if (name === 'credit' || name === 'redeem') accounts.add(command.accountId);
    else requests.add(command.requestId);
  }
  return { accounts: JSON.stringify([...accounts]), requests: JSON.stringify([...requests]) };
}

function written(query: SQL): Query {
  return { toSQL: () => DIALECT.sqlToQuery(query) };
}
