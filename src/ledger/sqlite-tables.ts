// The books in a SQLite file: one statement per row. Cached rows are not read again, which covers
// nearly all of them while no other connection commits. Statements with triggers say `or fail`: a
// failure rolls the batch back, so SQLite need not copy pages to undo a statement alone.

import { eq, getTableColumns, sql } from 'drizzle-orm';
import { assert } from '../core/assert.ts';
import { requestIdBytes } from '../core/id.ts';
import type { BudgetSpend } from '../core/key-budget.ts';
import type { Micro } from '../core/money.ts';
import type { SqliteDatabase } from '../store/database.ts';
import {
  balances,
  keyBudgets,
  movements,
  openHolds,
  redemptionCodes,
  requests,
} from '../store/money-tables.ts';
import { decode, inserted, list, placeholders, slots, written } from '../store/statement.ts';
import type { CodeRow } from './codes.ts';
import type { LedgerRequest, RecoverCommand } from './contract.ts';
import {
  familyOf,
  spentBefore,
  startsBudget,
  type UnreadBudget,
  unreadBudget,
} from './key-budgets.ts';
import type {
  BalanceRow,
  BatchFacts,
  Changes,
  EndedRequest,
  KeyBudgetRow,
  Memory,
  MovementRow,
  OpenHoldRow,
  RequestRow,
} from './memory.ts';
import type { Names } from './names.ts';
import { openBefore, RECOVER_MAX, recoverable } from './recover.ts';
import { insertMovements, type Tables } from './tables.ts';

/** The tables must exist. */
export function createSqliteTables(database: SqliteDatabase): Tables {
  const { db } = database;
  const statements = prepareStatements(database);
  let commits: number | undefined;

  /** The cache is valid as long as no other connection has committed. */
  function begin(batch: readonly LedgerRequest[], memory: Memory): void {
    const now = database.foreignCommits?.();
    const isForeign = now === undefined || now !== commits;
    // Recovery is rare, and reads the rows themselves.
    const isRecovery = batch.some(({ name }) => name === 'recover');
    if (isForeign || isRecovery || memory.isFull()) memory.forget();
    commits = now;
  }

  async function load(
    batch: readonly LedgerRequest[],
    memory: Memory,
    names: Names,
  ): Promise<BatchFacts> {
    begin(batch, memory);
    const ended = new Map<string, EndedRequest>();
    const booked = new Map<string, MovementRow>();
    const codes = new Map<string, CodeRow>();
    const spent = new Map<string, BudgetSpend>();
    const recoveries = new Map<RecoverCommand, readonly string[]>();

    async function loadAccount(row: BalanceRow | undefined): Promise<void> {
      if (row === undefined || memory.accounts.has(row.accountId)) return;
      const held = await statements.holdsOf(row.number);
      const account = await memory.load(names, row, held);
      if (account.budgetCount === 0) return;
      for (const family of new Set(held.map(familyOf))) await loadBudget({ account, family });
    }

    async function loadBudget({ account, family }: UnreadBudget): Promise<void> {
      account.budgets.set(family, await statements.budgetOf(account.number, family));
    }

    async function findRequest(requestId: string): Promise<void> {
      const place = await statements.findRequest({ id: requestIdBytes(requestId) });
      if (place !== undefined) await loadRequest(requestId, placeOf(place));
    }

    async function loadRequest(requestId: string, place: Place): Promise<void> {
      if (!memory.accountsByNumber.has(place.account)) {
        await loadAccount(await statements.balanceOf('number', place.account));
      }
      const account = memory.accountsByNumber.get(place.account);
      if (account !== undefined && place.end !== undefined) {
        ended.set(requestId, { account, ...place.end });
      }
    }

    for (const request of batch) {
      const { name, command } = request;
      if (name === 'recover') {
        const open = await openBefore(database, command.createdBefore);
        const next = recoverable(open, command).slice(0, RECOVER_MAX);
        for (const requestId of next) {
          if (!memory.holds.has(requestId)) await findRequest(requestId);
        }
        recoveries.set(command, next);
        continue;
      }
      const isCached = 'accountId' in command && memory.accounts.has(command.accountId);
      // The table refuses the hold of a request that has ended, and the writer then writes each
      // command of the batch alone.
      const isChecked = name === 'hold' && isCached && batch.length > 1;
      if ('requestId' in command && !isChecked && !memory.holds.has(command.requestId)) {
        await findRequest(command.requestId);
      }
      if ('accountId' in command && !memory.accounts.has(command.accountId)) {
        await loadAccount(await statements.balanceOf('account_id', command.accountId));
      }
      const unread = unreadBudget(request, memory, names);
      if (unread !== undefined) await loadBudget(unread);
      if (name === 'credit') {
        const named = eq(movements.transferId, `credit:${command.creditId}`);
        const row = await db.select().from(movements).where(named).get();
        if (row !== undefined) booked.set(row.transferId, row);
      }
      if (name === 'redeem') {
        const named = eq(redemptionCodes.digest, command.digest);
        const row = await db.select().from(redemptionCodes).where(named).get();
        if (row !== undefined) codes.set(row.digest, row);
      }
      if (name === 'budget' && startsBudget(command, memory, names))
        spent.set(command.family, await spentBefore(database, command));
    }
    return { ended, movements: booked, codes, spentBefore: spent, recoverable: recoveries };
  }

  async function write(changes: Changes, onSent: () => void): Promise<void> {
    writeRows(changes);
    await insertMovements(database, changes);
    onSent();
  }

  /** Awaits nothing: SQLite answers at once. */
  function writeRows(changes: Changes): void {
    for (const account of changes.accounts) {
      const state = account.state();
      assert(statements.updateBalance(account.row, state) === 1, 'a balance is as it was');
      account.row = state;
    }
    for (const { row } of changes.opened) statements.insertHold(row);
    for (const { row } of changes.changed) statements.updateHold(row);
    for (const row of changes.requests.values()) statements.insertRequest(row);
    for (const id of changes.ended) {
      assert(statements.deleteHold(id) === 1, 'a hold that ends was open');
    }
    for (const row of changes.budgets.values()) statements.putBudget(row);
  }

  return { load, write };
}

const BALANCE = getTableColumns(balances);
const HOLD = getTableColumns(openHolds);
const { number: _number, ...BUDGET } = getTableColumns(keyBudgets);

type PlaceRow = readonly [account: bigint, debited: Micro | null, loss: Micro | null];

type Place = {
  readonly account: number;
  /** The settlement; absent where the hold is open. */
  readonly end?: { readonly debited: Micro; readonly loss: Micro };
};

function placeOf([account, debited, loss]: PlaceRow): Place {
  const end = debited === null || loss === null ? {} : { end: { debited, loss } };
  return { account: Number(account), ...end };
}

/** The statements of every request. */
function prepareStatements(database: SqliteDatabase) {
  const { db } = database;
  const value = sql.placeholder;

  const findRequest = database.prepare<{ id: Uint8Array }, PlaceRow>(
    written(sql`select account, charged - loss, loss from requests where id = ${value('id')}
      union all select account, null, null from open_holds where id = ${value('id')}`),
  );
  const findBalance = (column: 'number' | 'account_id') =>
    database.prepare<{ id: number | string }, unknown[]>(
      written(sql`select ${list(BALANCE)} from balances
        where ${sql.identifier(column)} = ${value('id')}`),
    );
  const balancesBy = { number: findBalance('number'), account_id: findBalance('account_id') };
  const findHolds = database.prepare<{ account: number }, unknown[]>(
    written(sql`select ${list(HOLD)} from open_holds where account = ${value('account')}`),
  );
  const updateBalance = database.prepareWithin<BalanceRow & BalanceBefore>(
    written(sql`update or fail balances set posted = ${value('posted')}, held = ${value('held')},
        unpaid = ${value('unpaid')}, sequence = ${value('sequence')}, head = ${value('head')},
        receipted = ${value('receipted')}, budgets = ${value('budgets')}
      where number = ${value('number')} and posted = ${value('wasPosted')}
        and held = ${value('wasHeld')} and unpaid = ${value('wasUnpaid')}
        and sequence = ${value('wasSequence')}`),
  );
  const insertHold = database.prepareWithin<OpenHoldRow>(
    written(sql`insert or fail into open_holds (${list(HOLD)}) values (${slots(HOLD)})`),
  );
  const updateHold = database.prepareWithin<OpenHoldRow & { idBytes: Uint8Array }>(
    written(sql`update or fail open_holds set amount = ${value('amount')}, worst = ${value('worst')},
        checkpoint_at = ${value('checkpointAt')}, upstream = ${value('upstream')},
        model_served = ${value('modelServed')}, price_served = ${value('priceServed')},
        output_tokens = ${value('outputTokens')}, reasoning_tokens = ${value('reasoningTokens')},
        budgeted = ${value('budgeted')}
      where id = ${value('idBytes')}`),
  );
  const deleteHold = database.prepareWithin<{ idBytes: Uint8Array }>(
    db.delete(openHolds).where(eq(openHolds.id, value('idBytes'))),
  );
  const findBudget = database.prepare<{ account: number; family: number }, unknown[]>(
    written(sql`select ${list(BUDGET)} from key_budgets
      where family = ${value('family')} and account = ${value('account')}`),
  );
  const { number: __, ...budget } = placeholders(keyBudgets);
  const putBudget = database.prepareWithin<KeyBudgetRow>(
    db
      .insert(keyBudgets)
      .values(budget)
      .onConflictDoUpdate({ target: keyBudgets.family, set: inserted(BUDGET) }),
  );
  const { number: _, ...columns } = placeholders(requests);
  const insertRequest = database.prepareWithin<RequestRow>(db.insert(requests).values(columns));

  return {
    findRequest: findRequest.get,
    /** After another connection's commit, every account of a batch is read again. */
    async balanceOf(
      column: keyof typeof balancesBy,
      id: number | string,
    ): Promise<BalanceRow | undefined> {
      const row = await balancesBy[column].get({ id });
      return row && decode(BALANCE, row);
    },
    async holdsOf(account: number): Promise<readonly OpenHoldRow[]> {
      return (await findHolds.all({ account })).map((row): OpenHoldRow => decode(HOLD, row));
    },
    async budgetOf(account: number, family: number): Promise<KeyBudgetRow | undefined> {
      const row = await findBudget.get({ account, family });
      return row && decode(BUDGET, row);
    },
    putBudget: putBudget.run,
    updateBalance: (was: BalanceRow, row: BalanceRow) =>
      updateBalance.run({
        ...row,
        wasPosted: was.posted,
        wasHeld: was.held,
        wasUnpaid: was.unpaid,
        wasSequence: was.sequence,
      }),
    insertHold: insertHold.run,
    updateHold: (row: OpenHoldRow) => updateHold.run({ ...row, idBytes: requestIdBytes(row.id) }),
    deleteHold: (id: string) => deleteHold.run({ idBytes: requestIdBytes(id) }),
    insertRequest: insertRequest.run,
  };
}

type BalanceBefore = {
  readonly wasPosted: Micro;
  readonly wasHeld: Micro;
  readonly wasUnpaid: Micro;
  readonly wasSequence: number;
};
