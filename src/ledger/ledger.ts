// The ledger: the only writer of money. Commands queue up, and all that came within one turn of
// the event loop share one transaction and so one sync to disk. No timers decide a batch.

import { AMOUNT_MAX } from '../core/money.ts';
import type { Database } from '../store/database.ts';
import { isStoreFailure } from '../store/error.ts';
import { createCommands, requireAmount } from './commands.ts';
import type { Ledger } from './contract.ts';
import { LedgerUnavailable } from './error.ts';
import { prepareStatements } from './statements.ts';

export type LedgerOptions = {
  /** Open and migrated. */
  readonly database: Database;
  /** Told when a settle or release is kept for later, and when one had to be given up. */
  readonly onTrouble?: (trouble: LedgerTrouble) => void;
};

export type LedgerTrouble = {
  readonly kind: 'kept' | 'given_up';
  readonly requestId: string;
  readonly cause: unknown;
};

type Queued = {
  /** Does the work, and returns what tells the caller once it is on disk. */
  readonly apply: () => Answer;
  readonly reject: (cause: unknown) => void;
  /** Set on what must not be lost: a settle or a release. */
  readonly requestId: string | undefined;
};

type Answer = () => void;

/** Bounds how long one batch keeps the event loop. */
const BATCH_MAX = 256;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 5_000;

export function createLedger({ database, onTrouble = () => undefined }: LedgerOptions): Ledger {
  const commands = createCommands(prepareStatements(database));
  const queue: Queued[] = [];
  const kept: Queued[] = [];
  const unsynced: { readonly answer: Answer; readonly reject: Queued['reject'] }[] = [];
  let syncing = false;
  let retryTimer: Timer | undefined;
  let retryMs = RETRY_FIRST_MS;

  function submit<T>(work: () => T, requestId?: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const apply = () => {
        const result = work();
        return () => resolve(result);
      };
      queue.push({ apply, reject, requestId });
      if (queue.length === 1) setImmediate(flush);
    });
  }

  function flush(): void {
    const batch = queue.splice(0, BATCH_MAX);
    if (queue.length > 0) setImmediate(flush);
    if (batch.length > 0) commit(batch);
  }

  function commit(batch: readonly Queued[]): void {
    let answers: Answer[];
    try {
      answers = database.transaction(() => batch.map((queued) => queued.apply()));
    } catch (cause) {
      commands.forget();
      if (isStoreFailure(cause)) failBatch(batch, cause);
      else if (batch.length > 1) for (const queued of batch) commit([queued]);
      else for (const queued of batch) refuse(queued, cause);
      return;
    }
    retryMs = RETRY_FIRST_MS;
    if (database.sync === undefined) for (const answer of answers) answer();
    else awaitDisk(database.sync, batch, answers);
  }

  /** One sync at a time: what is committed meanwhile shares the next one. */
  function awaitDisk(
    sync: () => Promise<void>,
    batch: readonly Queued[],
    answers: readonly Answer[],
  ): void {
    batch.forEach((queued, index) => {
      unsynced.push({ answer: answers[index] ?? (() => undefined), reject: queued.reject });
    });
    if (!syncing) void syncAll(sync);
  }

  async function syncAll(sync: () => Promise<void>): Promise<void> {
    syncing = true;
    while (unsynced.length > 0) {
      const batch = unsynced.splice(0);
      try {
        await sync();
        for (const { answer } of batch) answer();
      } catch (cause) {
        // It is committed, but nobody may be told so: a power cut could still undo it.
        const error = new LedgerUnavailable('The disk did not confirm a write.', { cause });
        for (const { reject } of batch) reject(error);
      }
    }
    syncing = false;
  }

  function refuse(queued: Queued, cause: unknown): void {
    queued.reject(cause);
    if (queued.requestId !== undefined) {
      onTrouble({ kind: 'given_up', requestId: queued.requestId, cause });
    }
  }

  function failBatch(batch: readonly Queued[], cause: unknown): void {
    const error = new LedgerUnavailable('The ledger could not be written.', { cause });
    for (const queued of batch) {
      queued.reject(error);
      if (queued.requestId === undefined) continue;
      kept.push(queued);
      onTrouble({ kind: 'kept', requestId: queued.requestId, cause });
    }
    if (kept.length > 0) retryLater();
  }

  function retryLater(): void {
    if (retryTimer !== undefined) return;
    retryTimer = setTimeout(retry, retryMs);
    retryMs = Math.min(retryMs * 2, RETRY_LAST_MS);
  }

  /** Puts what was kept back into the queue; its callers have been told already. */
  function retry(): void {
    retryTimer = undefined;
    queue.push(...kept.splice(0));
    flush();
  }

  return {
    async hold(command) {
      requireAmount(command.amount, 0n);
      return submit(() => commands.hold(command));
    },
    async dispatch(command) {
      return submit(() => commands.dispatch(command));
    },
    async extend(command) {
      requireAmount(command.amount, 0n);
      return submit(() => commands.extend(command));
    },
    async checkpoint(command) {
      return submit(() => commands.checkpoint(command));
    },
    async settle(command) {
      requireAmount(command.charge, 0n);
      return submit(() => commands.settle(command), command.requestId);
    },
    async release(command) {
      return submit(() => commands.release(command), command.requestId);
    },
    async recover(command) {
      return submit(() => commands.recover(command));
    },
    async credit(command) {
      requireAmount(command.amount, command.kind === 'adjustment' ? -AMOUNT_MAX : 1n);
      return submit(() => commands.credit(command));
    },
    async redeem(command) {
      return submit(() => commands.redeem(command));
    },
    pending: () => queue.length + kept.length + unsynced.length,
    async close() {
      const last = [...kept.splice(0), ...queue.splice(0)];
      if (last.length > 0) commit(last);
      clearTimeout(retryTimer);
      retryTimer = undefined;
      return kept.length;
    },
  };
}
