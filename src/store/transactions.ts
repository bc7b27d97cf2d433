// Runs transactions on one connection to a SQLite file, one at a time. Other tasks wait until the
// open one has ended, in the order of their calls; writers also wait for the other connections of
// this thread. The async context identifies the task, so the transaction need not be passed to
// functions.

import type { Database as Connection } from 'bun:sqlite';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Awaitable } from '../async/awaitable.ts';
import type { SyncMode } from './contract.ts';
import { StoreError } from './error.ts';
import type { Turns } from './write-turns.ts';

type Kind = {
  readonly mode: 'IMMEDIATE' | 'DEFERRED';
  readonly sync: SyncMode;
};

export type AccessMode = 'read' | 'write';

type Transaction = Kind & { undone: boolean };

export type Transactions = ReturnType<typeof createTransactions>;

type TransactionsOptions = {
  readonly connection: Connection;
  /** How the connection syncs its commits; `useSync` changes that. */
  readonly usual: SyncMode;
  readonly useSync: (mode: SyncMode) => void;
  readonly turns: Turns;
  /** How long its transactions queue before they go first. */
  readonly patienceMs: number | undefined;
};

export function createTransactions(options: TransactionsOptions) {
  const { connection, usual, useSync, turns, patienceMs } = options;
  const current = new AsyncLocalStorage<Transaction>();
  let open: Transaction | undefined;

  function isWithin(): boolean {
    const own = current.getStore();
    // SQLite rolls back by itself when the disk is full or fails: later statements run outside.
    if (own !== undefined && own === open && !connection.inTransaction) own.undone = true;
    // Leftover queries of a rolled-back task must not run on their own.
    if (own?.undone === true) throw new StoreError('This transaction was undone already.');
    return own !== undefined && own === open;
  }

  const isFree = (access: AccessMode): boolean =>
    open === undefined && (access === 'read' || turns.writer === undefined);

  /** Runs at once where this task may, otherwise when the open transaction has ended. */
  function whenFree<T>(access: AccessMode, ask: () => T): Awaitable<T> {
    if (isWithin() || isFree(access)) return ask();
    if (access === 'write' && turns.isWriting()) {
      throw new StoreError(
        'A task that writes on another connection already would wait for itself.',
      );
    }
    return turns.wait(() => isFree(access), ask, patienceMs);
  }

  async function run<T>(kind: Kind, work: () => Promise<T>): Promise<T> {
    if (isWithin()) throw new StoreError('A transaction is already open.');
    const transaction: Transaction = { ...kind, undone: false };
    const access = kind.mode === 'IMMEDIATE' ? 'write' : 'read';
    await whenFree(access, () => begin(transaction));
    let result: T;
    try {
      const asPart = (): Promise<T> => current.run(transaction, work);
      result = await (access === 'write' ? turns.within(transaction, asPart) : asPart());
    } catch (cause) {
      undo(transaction);
      throw cause;
    }
    commit(transaction);
    return result;
  }

  function begin(transaction: Transaction): void {
    try {
      if (transaction.sync !== usual) useSync(transaction.sync);
      connection.run(`BEGIN ${transaction.mode}`);
      open = transaction;
      if (transaction.mode === 'IMMEDIATE') turns.writer = transaction;
    } finally {
      if (open === undefined && transaction.sync !== usual) useSync(usual);
    }
  }

  function commit(transaction: Transaction): void {
    try {
      connection.run('COMMIT');
    } catch (cause) {
      undo(transaction);
      throw cause;
    }
    end(transaction);
  }

  function undo(transaction: Transaction): void {
    transaction.undone = true;
    try {
      // A failed write may have ended the transaction already.
      if (connection.inTransaction) connection.run('ROLLBACK');
    } finally {
      end(transaction);
    }
  }

  function end(transaction: Transaction): void {
    if (transaction.sync !== usual) useSync(usual);
    open = undefined;
    if (turns.writer === transaction) turns.writer = undefined;
    turns.goOn();
  }

  return { run, whenFree };
}
