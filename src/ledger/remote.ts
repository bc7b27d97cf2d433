// Runs the ledger in a thread, so that the server's event loop never waits for the disk. Starts the
// thread and connects the client to it. When the thread dies, the client keeps accepted commands
// and posts them to its successor.

import { createBackoff } from '../async/backoff.ts';
import { withTimeout } from '../async/timeout.ts';
import type { SyncMode } from '../store/contract.ts';
import { createLedgerClient, type LedgerClientOptions, type ServingLedger } from './client.ts';
import { LedgerUnavailable } from './error.ts';
import type { FromThread, ToThread } from './thread.ts';

export type RemoteLedgerOptions = LedgerClientOptions & {
  /** The URL of a migrated database. */
  readonly url: string;
  readonly sync: SyncMode;
  /** Called when the thread has died; it restarts after a delay. */
  readonly onDeath?: (cause: unknown) => void;
  /** Replaces the thread, for tests that end it. */
  readonly startThread?: () => Worker;
};

export type RemoteLedger = ServingLedger & {
  /**
   * Aggregates new usage records, on SQLite. Rejects where the database fails or the thread dies.
   */
  readonly addUp: () => Promise<void>;
  /** Collects the garbage of the thread, and `shrink` drops its compiled code, too. */
  readonly collect: () => void;
  readonly shrink: () => void;
  /** Writes pending commands like `close`, but keeps the thread for the domains. */
  readonly drain: () => Promise<number>;
  /** Ends the thread, after the last write of the domains. */
  readonly end: () => Promise<void>;
};

/** How long the thread may take to close its database. */
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

  const post = (message: ToThread, transfer: MessagePort[] = []): void =>
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
      // The runtime puts source lines around the error into its message; keep the error's own line.
      cause = new LedgerUnavailable(/^\w*error: .*$/im.exec(message)?.[0] ?? message);
    };
    // Fired once, also after an error.
    started.addEventListener('close', () => {
      thread = undefined;
      if (!isEnding) die(cause);
    });
    const { port1: port, port2: commands } = new MessageChannel();
    const { port1: writer, port2: writes } = new MessageChannel();
    post({ kind: 'open', url, sync, port, writer }, [port, writer]);
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
    if (addingUp === undefined) post({ kind: 'add up' });
    addingUp ??= Promise.withResolvers();
    return addingUp.promise;
  }

  async function end(): Promise<void> {
    isEnding = true;
    clearTimeout(restartTimer);
    const last = thread;
    if (last === undefined) return;
    const closed = new Promise((resolve) => last.addEventListener('close', resolve));
    post({ kind: 'close' });
    if ((await withTimeout(END_MS, closed)) === undefined) last.terminate();
    await closed;
  }

  start();
  return {
    ...own,
    addUp,
    collect: () => post({ kind: 'collect' }),
    shrink: () => post({ kind: 'shrink' }),
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

/**
 * The build puts the thread beside the file that contains this, so the path is the same in both.
 */
function startLedgerThread(): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url).href);
}
