// The ledger in a thread of its own, as a server has it: its event loop never waits for the disk.
// Starts the thread, and connects its client to it. When the thread dies, the client keeps what was
// promised and gives it to the next one.

import { createBackoff } from '../async/backoff.ts';
import { withTimeout } from '../async/timeout.ts';
import type { SyncMode } from '../store/contract.ts';
import type { WriterClient } from '../store/writer/client.ts';
import { createLedgerClient, type ServingLedger } from './client.ts';
import { LedgerUnavailable } from './error.ts';
import type { QueueOptions } from './queue.ts';
import type { FromThread, ToThread } from './thread.ts';

export type RemoteLedgerOptions = Pick<QueueOptions, 'onTrouble' | 'onBatch' | 'bookingMs'> & {
  /** Of a database that is migrated. */
  readonly url: string;
  readonly sync: SyncMode;
  /** Called when the thread has died; it is started again after a while. */
  readonly onDeath?: (cause: unknown) => void;
  /** Has the domains write through the ledger's thread. */
  readonly writer?: Pick<WriterClient, 'link' | 'unlink'>;
  /** In place of the thread, for tests that end it. */
  readonly startThread?: () => Worker;
};

export type RemoteLedger = ServingLedger & {
  /** Adds up new usage records, on SQLite. Rejects where the database fails or the thread dies. */
  readonly addUp: () => Promise<void>;
  /** Writes what waits, as `close` does, and leaves the thread to the domains. */
  readonly drain: () => Promise<number>;
  /** Ends the thread, after the last write of the domains. */
  readonly end: () => Promise<void>;
};

/** For the thread to close its database. */
const END_MS = 2_000;

export function createRemoteLedger(options: RemoteLedgerOptions): RemoteLedger {
  const { url, sync, onDeath = () => undefined, startThread = startLedgerThread } = options;
  const own = createLedgerClient(options);
  let thread: Worker | undefined;
  let isOpen = false;
  let isEnding = false;
  const restarts = createBackoff();
  let restartTimer: Timer | undefined;
  let addingUp: PromiseWithResolvers<void> | undefined;

  const tell = (message: ToThread, transfer: MessagePort[] = []): void =>
    thread?.postMessage(message, transfer);

  function start(): void {
    const started = startThread();
    let cause: unknown;
    thread = started;
    started.onmessage = ({ data }: MessageEvent<FromThread>) => {
      if (data.kind === 'added up') endAddingUp(data.problem);
      else {
        isOpen = true;
        restarts.reset();
      }
    };
    started.onerror = ({ message }) => {
      // The runtime prints the source around the error into its message; its own line will do.
      cause = new LedgerUnavailable(/^\w*error: .*$/im.exec(message)?.[0] ?? message);
    };
    // Comes once, after an error too.
    started.addEventListener('close', () => {
      thread = undefined;
      if (!isEnding) die(cause);
    });
    const { port1: port, port2: commands } = new MessageChannel();
    const { port1: writer, port2: writes } = new MessageChannel();
    tell({ kind: 'open', url, sync, port, writer }, [port, writer]);
    own.link(commands, writes);
  }

  function die(cause: unknown): void {
    onDeath(cause);
    restartTimer = setTimeout(start, restarts.next());
    own.unlink(cause, isOpen);
    isOpen = false;
    endAddingUp('the thread of the ledger has stopped');
  }

  function endAddingUp(problem: string | undefined): void {
    if (problem === undefined) addingUp?.resolve();
    else addingUp?.reject(new LedgerUnavailable(problem));
    addingUp = undefined;
  }

  function addUp(): Promise<void> {
    if (thread === undefined) throw new LedgerUnavailable('The thread of the ledger has stopped.');
    if (addingUp === undefined) tell({ kind: 'add up' });
    addingUp ??= Promise.withResolvers();
    return addingUp.promise;
  }

  async function end(): Promise<void> {
    isEnding = true;
    clearTimeout(restartTimer);
    const last = thread;
    if (last === undefined) return;
    const closed = new Promise((resolve) => last.addEventListener('close', resolve));
    tell({ kind: 'close' });
    if ((await withTimeout(END_MS, closed)) === undefined) last.terminate();
    await closed;
  }

  start();
  return {
    ...own,
    addUp,
    drain: own.close,
    end,
    async close() {
      const left = await own.close();
      await end();
      return left;
    },
    problem: () => (isOpen ? own.problem() : 'stopped'),
  };
}

/** The build puts the thread beside whatever holds this file, so this is its place in both. */
function startLedgerThread(): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url).href);
}
