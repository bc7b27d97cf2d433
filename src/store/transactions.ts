// Transactions on the one connection of a SQLite file: one after the other, and whoever is not part
// of the open one waits until it has ended. Which task is part of it is known from the context that
// promises carry along, so that no function has to be handed the transaction.

import type { Database as Connection } from 'bun:sqlite';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SyncMode } from './contract.ts';
import { StoreError } from './error.ts';

type Transaction = { readonly ended: Promise<void> };

export type Transactions = {
  readonly run: <T>(
    mode: 'IMMEDIATE' | 'DEFERRED',
    sync: SyncMode,
    work: () => Promise<T>,
  ) => Promise<T>;
  readonly savepoint: <T>(work: () => Promise<T>) => Promise<T>;
  /** Absent where the connection may be asked at once; else to be waited for. */
  readonly whenFree: () => Promise<void> | undefined;
};

/** `usual` is how the connection syncs its commits; `useSync` changes that. */
export function createTransactions(
  connection: Connection,
  usual: SyncMode,
  useSync: (mode: SyncMode) => void,
): Transactions {
  const current = new AsyncLocalStorage<Transaction>();
  let open: Transaction | undefined;

  function whenFree(): Promise<void> | undefined {
    if (open === undefined || current.getStore() === open) return undefined;
    return othersEnd();
  }

  async function othersEnd(): Promise<void> {
    // Whoever waited longer may have begun the next one.
    while (open !== undefined && current.getStore() !== open) await open.ended;
  }

  async function run<T>(
    mode: 'IMMEDIATE' | 'DEFERRED',
    sync: SyncMode,
    work: () => Promise<T>,
  ): Promise<T> {
    if (open !== undefined && current.getStore() === open) {
      throw new StoreError('A transaction is already open.');
    }
    // Nothing may come between the last look and our own transaction.
    while (open !== undefined) await open.ended;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const transaction: Transaction = { ended };
    open = transaction;
    try {
      return await current.run(transaction, () => inTransaction(mode, sync, work));
    } finally {
      open = undefined;
      end();
    }
  }

  async function inTransaction<T>(
    mode: 'IMMEDIATE' | 'DEFERRED',
    sync: SyncMode,
    work: () => Promise<T>,
  ): Promise<T> {
    if (sync !== usual) useSync(sync);
    try {
      connection.run(`BEGIN ${mode}`);
      try {
        const result = await work();
        connection.run('COMMIT');
        return result;
      } catch (cause) {
        // A failed write may have ended the transaction already.
        if (connection.inTransaction) connection.run('ROLLBACK');
        throw cause;
      }
    } finally {
      if (sync !== usual) useSync(usual);
    }
  }

  async function savepoint<T>(work: () => Promise<T>): Promise<T> {
    connection.run('SAVEPOINT inner_work');
    try {
      const result = await work();
      connection.run('RELEASE inner_work');
      return result;
    } catch (cause) {
      // A failed write may have ended the whole transaction already.
      if (connection.inTransaction) {
        connection.run('ROLLBACK TO inner_work');
        connection.run('RELEASE inner_work');
      }
      throw cause;
    }
  }

  return { run, savepoint, whenFree };
}
