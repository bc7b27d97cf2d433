// The books on a server where other nodes write too. A batch whose accounts are all cached is one
// statement: it locks their balances in order, fails where one has changed, and writes and commits
// in one round trip. Any other batch first locks and reads its rows in an extra round trip.

import type { BudgetSpend } from '../core/key-budget.ts';
import type { Database } from '../store/contract.ts';
import { isConflict } from '../store/error.ts';
import type { LedgerRequest, RecoverCommand } from './contract.ts';
import {
  familyOf,
  spentBefore,
  startsBudget,
  type UnreadBudget,
  unreadBudget,
} from './key-budgets.ts';
import type { AccountBooks, BatchFacts, Changes, EndedRequest, Memory } from './memory.ts';
import type { Names } from './names.ts';
import { type Named, prepareStatements } from './postgres-statements.ts';
import { openBefore, RECOVER_MAX, recoverable } from './recover.ts';
import { insertMovements, type Tables } from './tables.ts';

/** Batches that must find the cache valid before it is relied on again. */
const CALM_BATCHES = 8;

/** The tables must exist. */
export function createPostgresTables(database: Database): Tables {
  const statements = prepareStatements(database);
  /** By the number of an account: the version of the cached row of `balances`. */
  const versions = new Map<number, string>();
  /** Accounts that decide the current batch and are not locked. */
  let unlocked = new Set<AccountBooks>();
  let calmIn = 0;

  async function load(
    batch: readonly LedgerRequest[],
    memory: Memory,
    names: Names,
  ): Promise<BatchFacts> {
    const isStale = batch.some(({ name }) => name === 'recover');
    if (isStale || memory.isFull()) memory.forget();
    if (memory.accounts.size === 0) versions.clear();
    const known = calmIn > 0 ? undefined : knownAccounts(batch, memory, names);
    unlocked = known ?? new Set();
    if (known !== undefined) return NO_FACTS;
    const named = await namedBy(database, batch);
    const facts = await statements.lock(named, versionsOf(named, memory));
    const holds = Map.groupBy(facts.openHolds, (hold) => hold.account);
    const unread: UnreadBudget[] = [];
    let isCalm = true;
    for (const { row, version } of facts.balances) {
      const cached = memory.accountsByNumber.get(row.number);
      if (cached !== undefined && versions.get(row.number) === version) continue;
      if (cached !== undefined) {
        isCalm = false;
        memory.forgetAccount(cached);
      }
      versions.set(row.number, version);
      const held = holds.get(row.number) ?? [];
      const account = await memory.load(names, row, held);
      if (account.budgetCount === 0) continue;
      for (const hold of held) unread.push({ account, family: familyOf(hold) });
    }
    for (const request of batch) {
      const budget = unreadBudget(request, memory, names);
      if (budget !== undefined) unread.push(budget);
    }
    await loadBudgets(unread);
    calmIn = isCalm ? Math.max(0, calmIn - 1) : CALM_BATCHES;
    const ended = new Map<string, EndedRequest>();
    for (const { id, account: number, debited, loss } of facts.ended) {
      const account = memory.accountsByNumber.get(number);
      if (account !== undefined) ended.set(id, { account, debited, loss });
    }
    const spent = new Map<string, BudgetSpend>();
    for (const { name, command } of batch) {
      if (name === 'budget' && startsBudget(command, memory, names))
        spent.set(command.family, await spentBefore(database, command));
    }
    return {
      ended,
      spentBefore: spent,
      movements: new Map(facts.movements.map((row) => [row.transferId, row])),
      codes: new Map(facts.codes.map((row) => [row.digest, row])),
      recoverable: named.recoverable,
    };
  }

  /** Few accounts have budgets, so most batches skip this round trip. */
  async function loadBudgets(unread: readonly UnreadBudget[]): Promise<void> {
    if (unread.length === 0) return;
    const rows = await statements.budgetsOf(unread.map(({ family }) => family));
    const byFamily = new Map(rows.map((row) => [row.family, row]));
    for (const { account, family } of unread) {
      const row = byFamily.get(family);
      account.budgets.set(family, row?.account === account.number ? row : undefined);
    }
  }

  /** Of the cached accounts of a batch. */
  function versionsOf({ accounts, requests }: Named, memory: Memory): Map<number, string> {
    const named = [
      ...[...accounts].map((id) => memory.accounts.get(id)),
      ...[...requests].map((id) => memory.holds.get(id)?.account),
    ];
    return new Map(
      named.flatMap((account) => {
        const version = account === undefined ? undefined : versions.get(account.number);
        return account === undefined || version === undefined ? [] : [[account.number, version]];
      }),
    );
  }

  async function write(changes: Changes, onSent: () => void): Promise<void> {
    const accounts = [...unlocked.union(changes.accounts)];
    if (accounts.length === 0 && changes.changed.size === 0) return onSent();
    if (changes.movements.size > 0 || changes.events.length > 0)
      await insertMovements(database, changes);
    const rows = accounts.map((account) => ({
      ...account.state(),
      version: versions.get(account.number) ?? '0',
      wasPosted: account.row.posted,
      wasHeld: account.row.held,
    }));
    try {
      const written = statements.write(rows, changes);
      onSent();
      const version = await written;
      for (const account of accounts) {
        account.row = account.state();
        versions.set(account.number, version);
      }
    } catch (cause) {
      if (isConflict(cause)) calmIn = CALM_BATCHES;
      throw cause;
    }
  }

  return { load, write };
}

/** For a cached account, the condition in `write` is the only check that is needed. */
const NO_FACTS: BatchFacts = {
  ended: new Map(),
  movements: new Map(),
  codes: new Map(),
  recoverable: new Map(),
  spentBefore: new Map(),
};

/**
 * The accounts that decide a batch if all that its commands name is cached; else undefined. A
 * checkpoint decides nothing.
 */
function knownAccounts(
  batch: readonly LedgerRequest[],
  memory: Memory,
  names: Names,
): Set<AccountBooks> | undefined {
  const accounts = new Set<AccountBooks>();
  for (const request of batch) {
    const { name, command } = request;
    if (name === 'credit' || name === 'redeem' || name === 'budget' || name === 'recover')
      return undefined;
    const hold = memory.holds.get(command.requestId);
    const account = name === 'hold' ? memory.accounts.get(command.accountId) : hold?.account;
    if (account === undefined || unreadBudget(request, memory, names) !== undefined)
      return undefined;
    if (name !== 'checkpoint') accounts.add(account);
    if (name === 'hold' && hold !== undefined) accounts.add(hold.account);
  }
  return accounts;
}

async function namedBy(
  database: Database,
  batch: readonly LedgerRequest[],
): Promise<Named & Pick<BatchFacts, 'recoverable'>> {
  const accounts = new Set<string>();
  const requests = new Set<string>();
  const transfers = new Set<string>();
  const codes = new Set<string>();
  const recoveries = new Map<RecoverCommand, readonly string[]>();
  for (const { name, command } of batch) {
    if (name === 'recover') {
      const open = await openBefore(database, command.createdBefore);
      const next = recoverable(open, command).slice(0, RECOVER_MAX);
      for (const requestId of next) requests.add(requestId);
      recoveries.set(command, next);
      continue;
    }
    if ('accountId' in command) accounts.add(command.accountId);
    if ('requestId' in command) requests.add(command.requestId);
    if (name === 'credit') transfers.add(`credit:${command.creditId}`);
    if (name === 'redeem') codes.add(command.digest);
  }
  return { accounts, requests, transfers, codes, recoverable: recoveries };
}
