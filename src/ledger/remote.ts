// The ledger in a thread of its own, as a server has it: its event loop never waits for the disk.
// Called by serve alone. A thread that dies takes nothing along: what was promised is kept here
// and is given to the next one.

import type { SyncMode } from '../store/database.ts';
import type { Ledger } from './contract.ts';
import { LedgerUnavailable } from './error.ts';
import { createQueue, type LedgerTrouble } from './queue.ts';
import type { FromThread, ToThread } from './thread.ts';

export type RemoteLedgerOptions = {
  /** Of a database that is migrated. */
  readonly url: string;
  readonly sync: SyncMode;
  readonly onTrouble?: (trouble: LedgerTrouble) => void;
  /** Told of each batch that was written: its commands, and the time that it took. */
  readonly onBatch?: (size: number, durationMs: number) => void;
  /** Told when the thread has died; it is started again on its own. */
  readonly onDeath?: (cause: unknown) => void;
  /** In place of the thread, for tests that end it. */
  readonly startThread?: () => Worker;
};

export type RemoteLedger = Ledger & {
  /** Why it takes no new promises at the moment; absent where it does. */
  readonly problem: () => 'stopped' | 'failing' | undefined;
  /** Requests whose hold, or the end of it, is not on disk yet: the books know less of them. */
  readonly unwritten: () => string[];
};

const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 5_000;

/** For the thread to close its database. */
const END_MS = 2_000;

export function createRemoteLedger(options: RemoteLedgerOptions): RemoteLedger {
  const { url, sync, onTrouble, onBatch, onDeath = () => undefined } = options;
  const { startThread = startLedgerThread } = options;
  let thread: Worker | undefined;
  let open = false;
  let ending = false;
  let restartTimer: Timer | undefined;
  let restartMs = RESTART_FIRST_MS;

  const tell = (message: ToThread): void => thread?.postMessage(message);

  const queue = createQueue({
    post(batch) {
      if (thread === undefined)
        queue.lost(new Error('The thread of the ledger has stopped.'), false);
      else tell({ kind: 'write', batch });
    },
    onTrouble,
    onBatch,
  });

  function start(): void {
    const started = startThread();
    let cause: unknown;
    thread = started;
    started.onmessage = ({ data }: MessageEvent<FromThread>) => {
      open = true;
      restartMs = RESTART_FIRST_MS;
      queue.answered(data);
    };
    started.onerror = ({ message }) => {
      // The runtime prints the source around the error into its message; its own line will do.
      cause = new LedgerUnavailable(/^\w*error: .*$/im.exec(message)?.[0] ?? message);
    };
    // Comes once, after an error too.
    started.addEventListener('close', () => {
      const wasOpen = open;
      thread = undefined;
      open = false;
      if (!ending) die(cause, wasOpen);
    });
    tell({ kind: 'open', url, sync });
  }

  function die(cause: unknown, wasOpen: boolean): void {
    onDeath(cause);
    restartTimer = setTimeout(start, restartMs);
    restartMs = Math.min(restartMs * 2, RESTART_LAST_MS);
    queue.lost(cause, wasOpen);
  }

  function end(): Promise<void> {
    ending = true;
    clearTimeout(restartTimer);
    const last = thread;
    if (last === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => last.terminate(), END_MS);
      last.addEventListener('close', () => {
        clearTimeout(timer);
        resolve();
      });
      tell({ kind: 'close' });
    });
  }

  start();
  return {
    ...queue.ledger,
    async close() {
      const left = await queue.ledger.close();
      await end();
      return left;
    },
    problem() {
      if (!open) return 'stopped';
      return queue.failing() ? 'failing' : undefined;
    },
    unwritten: queue.unwritten,
  };
}

/** The build puts the thread beside whatever holds this file, so this is its place in both. */
function startLedgerThread(): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url).href);
}
