// The ledger in a thread of its own, as a server has it: its event loop never waits for the disk.
// Starts the thread, and connects this thread's client and those of server threads to it. When it
// dies, each client keeps what was promised and gives it to the next one.

import { createBackoff } from '../async/backoff.ts';
import { withTimeout } from '../async/timeout.ts';
import type { SyncMode } from '../store/contract.ts';
import type { WriterClient } from '../store/writer/client.ts';
import { createLedgerClient, type LedgerLink, type ServingLedger } from './client.ts';
import { LedgerUnavailable } from './error.ts';
import type { QueueOptions } from './queue.ts';
import type { FromThread, ToThread } from './thread.ts';

export type RemoteLedgerOptions = Pick<QueueOptions, 'onTrouble' | 'onBatch'> & {
  /** Of a database that is migrated. */
  readonly url: string;
  readonly sync: SyncMode;
  /** Called when the thread has died; it is started again after a while. */
  readonly onDeath?: (cause: unknown) => void;
  /** Has the domains of this thread write through the ledger's thread. */
  readonly writer?: Pick<WriterClient, 'link' | 'unlink'>;
  /** In place of the thread, for tests that end it. */
  readonly startThread?: () => Worker;
};

export type RemoteLedger = ServingLedger & {
  /**
   * Lets another thread write too. The function that is returned is called when that thread has
   * died, and answers the requests whose holds it has left open.
   */
  readonly connect: (client: LedgerLink) => () => Promise<readonly string[]>;
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
  const clients = new Map<number, LedgerLink>();
  const leaving = new Map<number, (requestIds: readonly string[]) => void>();
  let thread: Worker | undefined;
  let isOpen = false;
  let isEnding = false;
  const restarts = createBackoff();
  let restartTimer: Timer | undefined;
  let lastClient = 0;
  let addingUp: PromiseWithResolvers<void> | undefined;

  const tell = (message: ToThread, transfer: MessagePort[] = []): void =>
    thread?.postMessage(message, transfer);

  function link(client: number, { link: give }: LedgerLink): void {
    const [commands, writer] = [new MessageChannel(), new MessageChannel()];
    const ports = [commands.port1, writer.port1] as const;
    tell({ kind: 'client', client, port: ports[0], writer: ports[1] }, [...ports]);
    give(commands.port2, writer.port2);
  }

  function start(): void {
    const started = startThread();
    let cause: unknown;
    thread = started;
    started.onmessage = ({ data }: MessageEvent<FromThread>) => {
      if (data.kind === 'left behind') leaving.get(data.client)?.(data.requestIds);
      else if (data.kind === 'added up') endAddingUp(data.problem);
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
    tell({ kind: 'open', url, sync });
    for (const [number, client] of clients) link(number, client);
  }

  function die(cause: unknown): void {
    onDeath(cause);
    restartTimer = setTimeout(start, restarts.next());
    for (const client of clients.values()) client.unlink(cause, isOpen);
    isOpen = false;
    endAddingUp('the thread of the ledger has stopped');
    // What they have left is found by the next look at all that is open.
    for (const answer of leaving.values()) answer([]);
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

  function connect(client: LedgerLink): () => Promise<readonly string[]> {
    lastClient += 1;
    const number = lastClient;
    clients.set(number, client);
    if (thread !== undefined) link(number, client);
    return () => {
      clients.delete(number);
      if (!isOpen) return Promise.resolve([]);
      return new Promise((resolve) => {
        leaving.set(number, (requestIds) => {
          leaving.delete(number);
          resolve(requestIds);
        });
        tell({ kind: 'gone', client: number });
      });
    };
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

  connect(own);
  start();
  return {
    ...own,
    connect,
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
