// The two statements of a batch on PostgreSQL: one locks and reads, the other writes. Accounts and
// requests are arrays, so batches of any size use the same statements.

import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import { assert } from '../core/assert.ts';
import { requestIdBytes, requestIdOf } from '../core/id.ts';
import type { Micro } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import {
  balances,
  keyBudgets,
  movements,
  openHolds,
  redemptionCodes,
  requests,
} from '../store/money-tables.ts';
import { LEDGER_AT_WORK } from '../store/postgres/locks.ts';
import { arrayOf, rowSet, type SetColumn, setColumns } from '../store/postgres/row-set.ts';
import { decode, inserted, list, written } from '../store/statement.ts';
import type { CodeRow } from './codes.ts';
import type { BalanceRow, Changes, KeyBudgetRow, MovementRow, OpenHoldRow } from './memory.ts';

/** The distinct accounts, requests and codes of a batch. */
export type Named = {
  readonly accounts: ReadonlySet<string>;
  readonly requests: ReadonlySet<string>;
  readonly transfers: ReadonlySet<string>;
  readonly codes: ReadonlySet<string>;
};

/** A balance with its version, which names its last writer. */
type VersionedBalance = { readonly row: BalanceRow; readonly version: string };

export function prepareStatements(database: Database) {
  const { pipeline } = database;
  assert(pipeline !== undefined, 'PostgreSQL takes statements in a pipeline');
  const array = (name: string, type: string): SQL =>
    sql`cast(${sql.placeholder(name)} as ${sql.raw(type)}[])`;

  const ACCOUNTS = sql`select number from balances where account_id = any(${array('accounts', 'text')})
    union select account from open_holds where id = any(${array('requests', 'bytea')})
    union select account from requests where id = any(${array('requests', 'bytea')})`;
  const lockBalances = database.prepare<object, [version: string, ...balance: unknown[]]>(
    written(sql`select cast(xmin as text), ${list(BALANCE)} from balances
      where number in (${ACCOUNTS}) order by number for update`),
  );
  // Separate statements, because they must see what was committed while the locks were awaited.
  const readHolds = database.prepare<object, unknown[]>(
    written(sql`select ${list(HOLD)} from open_holds where account in (
      select b.number from balances b where b.number in (${ACCOUNTS}) and not exists (
        select 1 from unnest(${array('known', 'bigint')}, ${array('versions', 'xid')}) k (number, version)
        where k.number = b.number and k.version = b.xmin))`),
  );
  const readEnded = database.prepare<
    object,
    [id: Uint8Array, account: bigint, debited: Micro, loss: Micro]
  >(
    written(sql`select id, account, charged - loss, loss from requests
      where id = any(${array('requests', 'bytea')})`),
  );
  const readMovements = database.prepare<object, unknown[]>(
    written(sql`select ${list(MOVEMENT)} from movements
      where transfer_id = any(${array('transfers', 'text')})`),
  );
  const lockCodes = database.prepare<object, unknown[]>(
    written(sql`select ${list(CODE)} from redemption_codes
      where digest = any(${array('codes', 'text')}) order by digest for update`),
  );
  const readBudgets = database.prepare<object, unknown[]>(
    written(sql`select ${list(BUDGET)} from key_budgets
      where family = any(${array('families', 'bigint')})`),
  );
  // A budget that another node has set since stays on a hold: a checkpoint is decided by outdated
  // books. With and without budgets, so that batches without them pay nothing for them.
  const prepareWrite = (isWithBudgets: boolean) =>
    pipeline.prepareLast<object, [version: string, isDone: unknown]>(
      written(sql`with locked as materialized (
        select number, pg_advisory_xact_lock_shared(${sql.raw(LEDGER_AT_WORK)}) from balances
        where number in (select number from ${moved.rows}) order by number for update),
      moves as (
        update balances b set posted = moved.posted, held = moved.held, unpaid = moved.unpaid,
          sequence = moved.sequence, head = moved.head, receipted = moved.receipted,
          budgets = moved.budgets
        from ${moved.rows}
        where (select count(*) from locked) >= 0 and b.number = moved.number
          and b.xmin = moved.version and b.posted = moved.was_posted and b.held = moved.was_held
        returning 1),
      begins as (
        insert into open_holds (${opened.names}) select ${opened.names} from ${opened.rows}
        where (select r.id from requests r where r.id = opened.id limit 1) is null returning 1),
      goes_on as (
        update open_holds h set amount = changed.amount, worst = changed.worst,
          checkpoint_at = changed.checkpoint_at, upstream = changed.upstream,
          model_served = changed.model_served, price_served = changed.price_served,
          output_tokens = changed.output_tokens, reasoning_tokens = changed.reasoning_tokens,
          budgeted = coalesce(changed.budgeted, h.budgeted)
        from ${changed.rows} where h.id = changed.id returning 1),
      records as (
        insert into requests (${ended.names}) select ${ended.names} from ${ended.rows}),
      ${isWithBudgets ? BUDGETS_WRITTEN : sql``}
      ends as (delete from open_holds where id = any(${array('gone', 'bytea')}) returning 1)
      select cast(cast(pg_current_xact_id() as xid) as text), tollgate_require(
        (select count(*) from moves) = ${moved.count}
        and (select count(*) from begins) = ${opened.count}
        and (select count(*) from goes_on) = ${changed.count}
        and (select count(*) from ends) = cardinality(${array('gone', 'bytea')}))`),
    );
  const writeBatch = prepareWrite(false);
  const writeBudgets = prepareWrite(true);

  return {
    /**
     * Locks the balances of a batch, then its codes, and reads what it needs: holds only of
     * accounts whose cached version is outdated or missing.
     */
    async lock(named: Named, known: ReadonlyMap<number, string>) {
      const values = {
        accounts: arrayOf([...named.accounts]),
        requests: arrayOf([...named.requests].map(requestIdBytes)),
        known: arrayOf([...known.keys()]),
        versions: arrayOf([...known.values()]),
        transfers: arrayOf([...named.transfers]),
        codes: arrayOf([...named.codes]),
      };
      const [balanceRows, codeRows, holdRows, endedRows, movementRows] = await Promise.all([
        lockBalances.all(values),
        named.codes.size === 0 ? [] : lockCodes.all(values),
        readHolds.all(values),
        readEnded.all(values),
        named.transfers.size === 0 ? [] : readMovements.all(values),
        pipeline.confirm(),
      ]);
      return {
        balances: balanceRows.map(
          ([version, ...row]): VersionedBalance => ({ version, row: decode(BALANCE, row) }),
        ),
        codes: codeRows.map((row): CodeRow => decode(CODE, row)),
        openHolds: holdRows.map((row): OpenHoldRow => decode(HOLD, row)),
        ended: endedRows.map(([id, account, debited, loss]) => ({
          id: requestIdOf(id),
          account: Number(account),
          debited,
          loss,
        })),
        movements: movementRows.map((row): MovementRow => decode(MOVEMENT, row)),
      };
    },

    /** Inside the transaction that has locked the accounts. */
    async budgetsOf(families: readonly number[]): Promise<readonly KeyBudgetRow[]> {
      const [rows] = await Promise.all([
        readBudgets.all({ families: arrayOf(families) }),
        pipeline.confirm(),
      ]);
      return rows.map((row): KeyBudgetRow => decode(BUDGET, row));
    },

    /** Commits too. Resolves with the new version of the balances. */
    async write(
      accounts: readonly (BalanceRow & BalanceBefore)[],
      changes: Changes,
    ): Promise<string> {
      const values = {
        ...moved.bind(accounts),
        ...opened.bind([...changes.opened].map((hold) => hold.row)),
        ...changed.bind([...changes.changed].map((hold) => hold.row)),
        ...ended.bind([...changes.requests.values()]),
        gone: arrayOf(changes.ended.map(requestIdBytes)),
      };
      const row = await (changes.budgets.size === 0
        ? writeBatch(values)
        : writeBudgets({ ...values, ...budgeted.bind([...changes.budgets.values()]) }));
      assert(row !== undefined, 'the statement of a batch answers');
      return row[0];
    },
  };
}

/** The row of a balance on which the write is conditional. */
type BalanceBefore = {
  readonly version: string;
  readonly wasPosted: Micro;
  readonly wasHeld: Micro;
};

const BALANCE = getTableColumns(balances);
const HOLD = getTableColumns(openHolds);
const CODE = getTableColumns(redemptionCodes);
const { number: ___, ...BUDGET } = getTableColumns(keyBudgets);
const { number: _, ...MOVEMENT } = getTableColumns(movements);
const { number: __, ...REQUEST } = getTableColumns(requests);

const BEFORE: Readonly<Record<keyof BalanceBefore, SetColumn>> = {
  version: { name: 'version', type: 'xid' },
  wasPosted: { name: 'was_posted', type: 'bigint' },
  wasHeld: { name: 'was_held', type: 'bigint' },
};

const moved = rowSet('moved', { ...setColumns(BALANCE), ...BEFORE });
const opened = rowSet('opened', setColumns(HOLD));
const changed = rowSet('changed', setColumns(HOLD));
const ended = rowSet('ended', setColumns(REQUEST));
const budgeted = rowSet('budgeted', setColumns(BUDGET));

const BUDGETS_WRITTEN = sql`budgets as (
        insert into key_budgets (${budgeted.names}) select ${budgeted.names} from ${budgeted.rows}
        on conflict (family) do update set ${sql.join(
          Object.entries(inserted(BUDGET)).map(
            ([key, value]) =>
              sql`${sql.identifier(BUDGET[key as keyof typeof BUDGET].name)} = ${value}`,
          ),
          sql`, `,
        )}),`;
