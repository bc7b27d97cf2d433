// What a batch does first on PostgreSQL, where other nodes write too: it locks the balances of all of
// its accounts, then the codes that are redeemed, in one order for everybody, so that two nodes wait
// for each other and never in a circle. Under the locks it reads what its commands need to know. All
// of it is one round trip.

import { type SQL, sql } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import type { Micro } from '../core/money.ts';
import type { Database, Query } from '../store/contract.ts';
import { holds } from '../store/money-tables.ts';
import { LEDGER_AT_WORK } from '../store/postgres/locks.ts';
import type { LedgerRequest } from './contract.ts';
import { OPEN_HOLD, type OpenHold, type OpenHoldRow, openHoldOf } from './hold-statements.ts';
import { RECOVER_MAX, recoverable } from './recover.ts';
import type { LastReceipt, Statements } from './statements.ts';

export type BatchFacts = {
  /** Whose each request is, as far as the books know it. */
  readonly owners: ReadonlyMap<string, string>;
  readonly openHolds: ReadonlyMap<string, OpenHold>;
  /** The worst case of each open hold of the accounts that want to hold more. */
  readonly worst: ReadonlyMap<string, Map<string, Micro>>;
  /** Of the accounts whose money moves; undefined where one has none yet. */
  readonly lastReceipts: ReadonlyMap<string, LastReceipt | undefined>;
};

/** What a batch names, as lists in JSON. */
type Named = {
  readonly accounts: string;
  readonly requests: string;
  /** Those of the accounts that hold, and those of the requests that are extended. */
  readonly holding: string;
  readonly extended: string;
  /** Those of the accounts that are paid, and those of the requests that end. */
  readonly paid: string;
  readonly ended: string;
  readonly codes: string;
};

const NONE = '[]';

/** Called first in the transaction of a batch. */
type LockBatch = (batch: readonly LedgerRequest[]) => Promise<BatchFacts>;

const DIALECT = new SQLiteAsyncDialect();

export function createLockBatch(database: Database, statements: Statements): LockBatch {
  const listed = (name: keyof Named): SQL =>
    sql`select value from json_array_elements_text(cast(cast(${sql.placeholder(name)} as text) as json))`;
  const accountsOf = (accounts: keyof Named, requests: keyof Named): SQL =>
    sql`${listed(accounts)} union
      select account_id from holds where request_id in (${listed(requests)})`;

  // Nobody waits for it: it shows that the batch is open; see `settled` of the store's contract.
  const announce = database.prepare<object>(
    written(sql`select pg_advisory_xact_lock_shared(${sql.raw(LEDGER_AT_WORK)})`),
  );
  const lock = database.prepare<Named>(
    written(sql`select account_id from balances
      where account_id in (${accountsOf('accounts', 'requests')})
      order by account_id for update`),
  );
  const lockCodes = database.prepare<Named>(
    written(sql`select digest from redemption_codes where digest in (${listed('codes')})
      order by digest for update`),
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
    [accountId: string, sequence: bigint | null, hash: string, body: string]
  >(
    written(sql`select b.account_id, r.sequence, r.hash, r.body from balances b
      left join lateral (select sequence, hash, body from receipts
        where account_id = b.account_id order by sequence desc limit 1) r on true
      where b.account_id in (${accountsOf('paid', 'ended')})`),
  );

  const findWorst = database.prepare<
    Named,
    [accountId: string, requestId: string | null, worst: Micro]
  >(
    written(sql`select b.account_id, h.request_id, greatest(h.worst, h.amount) from balances b
      left join holds h on h.account_id = b.account_id and h.ended_at is null
      where b.account_id in (${accountsOf('holding', 'extended')})`),
  );

  return async (batch) => {
    const named = await namesOf(batch, statements);
    const [, , , found, last, exposed] = await Promise.all([
      announce.run({}),
      lock.run(named),
      named.codes === NONE ? undefined : lockCodes.run(named),
      findHolds.all(named),
      findReceipts.all(named),
      named.holding === NONE && named.extended === NONE ? [] : findWorst.all(named),
    ]);
    const worst = new Map<string, Map<string, Micro>>();
    for (const [accountId, requestId, amount] of exposed) {
      const own = worst.get(accountId) ?? new Map<string, Micro>();
      worst.set(accountId, own);
      if (requestId !== null) own.set(requestId, amount);
    }
    const lastReceipts = new Map<string, LastReceipt | undefined>();
    for (const [accountId, sequence, hash, body] of last) {
      const receipt = { sequence: Number(sequence), hash, body };
      lastReceipts.set(accountId, sequence === null ? undefined : receipt);
    }
    const owners = new Map<string, string>();
    const openHolds = new Map<string, OpenHold>();
    for (const [requestId, endedAt, ...row] of found) {
      const hold = openHoldOf(row);
      owners.set(requestId, hold.accountId);
      if (endedAt === null) openHolds.set(requestId, hold);
    }
    return { owners, openHolds, worst, lastReceipts };
  };
}

async function namesOf(batch: readonly LedgerRequest[], statements: Statements): Promise<Named> {
  const accounts = new Set<string>();
  const requests = new Set<string>();
  const extended = new Set<string>();
  const paid = new Set<string>();
  const ended = new Set<string>();
  const codes = new Set<string>();
  for (const { name, command } of batch) {
    if (name === 'recover') {
      const open = await statements.openHoldsBefore(command.createdBefore);
      const next = recoverable(open, command).slice(0, RECOVER_MAX);
      for (const requestId of next) ended.add(requestId);
    } else if (name === 'credit' || name === 'redeem') {
      paid.add(command.accountId);
      if (name === 'redeem') codes.add(command.digest);
    } else if (name === 'settle' || name === 'release') {
      ended.add(command.requestId);
    } else {
      requests.add(command.requestId);
      if (name === 'hold') accounts.add(command.accountId);
      if (name === 'extend') extended.add(command.requestId);
    }
  }
  const listOf = (...names: readonly ReadonlySet<string>[]): string =>
    JSON.stringify(names.flatMap((each) => [...each]));
  return {
    accounts: listOf(accounts, paid),
    holding: listOf(accounts),
    requests: listOf(requests, ended),
    extended: listOf(extended),
    paid: listOf(paid),
    ended: listOf(ended),
    codes: listOf(codes),
  };
}

function written(query: SQL): Query {
  return { toSQL: () => DIALECT.sqlToQuery(query) };
}
