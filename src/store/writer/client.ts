// The serving thread's side of the writing thread. Transactions begin there in the order of the
// requests, and wait there for locks and for the disk; this thread only awaits promises. A
// transaction that does not begin in time is rejected, and then never begins.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { SyncMode } from '../contract.ts';
import { StoreError, UnknownCommit, WriterFailure } from '../error.ts';
import {
  type Ask,
  abandon,
  createPermit,
  type FromWriter,
  type ToWriter,
  unpackFailure,
  type WriterAnswer,
  type WriterStep,
} from './protocol.ts';

/** One open transaction of this thread. */
export type Writing = {
  /** The database that it belongs to; other databases of this thread are not part of it. */
  readonly owner: object;
  readonly ask: (ask: Ask) => Promise<unknown>;
};

export type WriterClient = {
  /** Sends transactions through this port from now on. */
  readonly link: (port: MessagePort) => void;
  /**
   * The other end is gone, because of `cause`: open transactions are rolled back; a pending commit
   * may have been written.
   */
  readonly unlink: (cause?: Error) => void;
  /** For how many milliseconds the other end has owed an answer and given none. */
  readonly owedMs: () => number;
  readonly transaction: <T>(owner: object, sync: SyncMode, work: () => Promise<T>) => Promise<T>;
  /** A transaction of one statement, in one round trip. */
  readonly alone: (sync: SyncMode, ask: Ask) => Promise<unknown>;
  /** The transaction of this task. Throws where it was rolled back. */
  readonly current: () => Writing | undefined;
};

/**
 * How long a transaction may wait to begin: as long as a statement of a command waits for a lock.
 */
const BEGIN_MS = 5_000;

type Transaction = Writing & {
  readonly phase: () => Phase;
  readonly isWaiting: () => boolean;
  readonly answer: (answer: WriterAnswer) => void;
  readonly fail: (cause: Error) => void;
};

type Phase = 'beginning' | 'open' | 'committing' | 'over' | 'undone';

/** `beginMs` replaces the default in tests. */
export function createWriterClient({ beginMs = BEGIN_MS } = {}): WriterClient {
  const current = new AsyncLocalStorage<Transaction>();
  const transactions = new Map<number, Transaction>();
  let port: MessagePort | undefined;
  /** Requests from before there was a port. */
  let unsent: ToWriter[] = [];
  let last = 0;
  /** When the other end gave its last answer, or was first asked after it owed none. */
  let heardAt = 0;

  function post(message: ToWriter): void {
    if (port === undefined) unsent.push(message);
    else port.postMessage(message);
  }

  /** Begins one, and sends the steps along that need no earlier answer. Each step has a promise. */
  function start(owner: object, sync: SyncMode, more: readonly WriterStep[]) {
    last += 1;
    const number = last;
    const waiting: PromiseWithResolvers<unknown>[] = [];
    const permit = createPermit();
    let phase: Phase = 'beginning';
    let isCommitting = false;
    const timer = setTimeout(() => {
      if (abandon(permit)) fail(busy(beginMs));
    }, beginMs);

    function send(...steps: readonly WriterStep[]): Promise<unknown>[] {
      if (phase === 'over') throw new StoreError('This transaction has ended.');
      if (phase === 'undone') throw undone();
      const asked = steps.map(() => Promise.withResolvers<unknown>());
      if (!owes()) heardAt = performance.now();
      waiting.push(...asked);
      isCommitting = steps.at(-1)?.kind === 'commit';
      if (isCommitting && phase === 'open') phase = 'committing';
      post({ transaction: number, steps });
      return asked.map(({ promise }) => promise);
    }

    function end(last: 'over' | 'undone'): void {
      clearTimeout(timer);
      transactions.delete(number);
      phase = last;
    }

    function fail(cause: Error): void {
      end('undone');
      for (const { reject } of waiting.splice(0)) reject(cause);
    }

    function answer(given: WriterAnswer): void {
      const isCommit = isCommitting && waiting.length === 1;
      if (!given.ok && (phase === 'beginning' || isCommit)) {
        fail(unpackFailure(given.error));
        return;
      }
      if (phase === 'beginning') {
        clearTimeout(timer);
        phase = isCommitting ? 'committing' : 'open';
      }
      if (isCommit) end('over');
      const next = waiting.shift();
      if (given.ok) next?.resolve(given.result);
      else next?.reject(unpackFailure(given.error));
    }

    function undo(): void {
      if (phase === 'undone') return;
      post({ transaction: number, steps: [{ kind: 'undo' }] });
      fail(undone());
    }

    const ask = async (asked: Ask): Promise<unknown> => send({ kind: 'ask', ask: asked })[0];
    const isWaiting = (): boolean => waiting.length > 0;
    const transaction: Transaction = { owner, ask, phase: () => phase, isWaiting, answer, fail };
    transactions.set(number, transaction);
    const promises = send({ kind: 'begin', sync, permit }, ...more);
    return { transaction, promises, send, undo };
  }

  const owes = (): boolean => transactions.values().some((transaction) => transaction.isWaiting());

  return {
    link(next) {
      port = next;
      next.onmessage = ({ data }) => {
        const { transaction, answers }: FromWriter = data;
        heardAt = performance.now();
        for (const answer of answers) transactions.get(transaction)?.answer(answer);
      };
      for (const message of unsent.splice(0)) next.postMessage(message);
    },
    unlink(cause) {
      if (port === undefined) return;
      port.close();
      port = undefined;
      unsent = [];
      for (const transaction of [...transactions.values()]) {
        transaction.fail(cause ?? stopped(transaction.phase() === 'committing'));
      }
    },
    owedMs: () => (owes() ? performance.now() - heardAt : 0),
    async transaction(owner, sync, work) {
      const { transaction, promises, send, undo } = start(owner, sync, []);
      await Promise.all(promises);
      let result: Awaited<ReturnType<typeof work>>;
      try {
        result = await current.run(transaction, work);
      } catch (cause) {
        undo();
        throw cause;
      }
      await Promise.all(send({ kind: 'commit' }));
      return result;
    },
    async alone(sync, ask) {
      const { promises } = start({}, sync, [{ kind: 'ask', ask }, { kind: 'commit' }]);
      return (await Promise.all(promises))[1];
    },
    current() {
      const own = current.getStore();
      // Leftover queries of a rolled-back task must not run on their own.
      if (own?.phase() === 'undone') throw undone();
      return own?.phase() === 'open' ? own : undefined;
    },
  };
}

function busy(waitedMs: number): WriterFailure {
  return new WriterFailure(
    'SQLITE_BUSY',
    `The database could not be written for ${waitedMs} ms. Check for another process that locks it, and for a slow disk.`,
  );
}

function stopped(isCommitting: boolean): WriterFailure {
  return isCommitting
    ? new UnknownCommit('SQLITE_ABORT', 'The writing thread has stopped during a commit.')
    : new WriterFailure('SQLITE_ABORT', 'The writing thread has stopped.');
}

function undone(): StoreError {
  return new StoreError('This transaction was undone already.');
}
