// The ledger in a thread of its own, as a server has it: its event loop never waits for the disk.
// Called by serve alone. A thread that dies takes nothing along: what was promised is kept here
// and is given to the next one.

import type { SyncMode } from '../store/contract.ts';
import type { WriterClient } from '../store/writer/client.ts';
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
  /** Has the domains of this thread write through the ledger's thread. */
  readonly writer?: Pick<WriterClient, 'link' | 'unlink'>;
  /** In place of the thread, for tests that end it. */
  readonly startThread?: () => Worker;
};

/** A thread of the process that has a ledger of its own, linked to this one (`linked.ts`). */
export type LedgerClient = {
  /** From now on, what is asked is written through this port, and what its domains write by `writer`. */
  readonly link: (port: MessagePort, writer: MessagePort) => void;
  /** Its other end is gone; `mayBeWritten` says whether what was posted may have been written. */
  readonly unlink: (cause: unknown, mayBeWritten: boolean) => void;
};

export type RemoteLedger = ServingLedger & {
  /**
   * Lets another thread write too. The function that is returned is called when that thread has
   * died, and answers the requests whose holds it has left open.
   */
  readonly connect: (client: LedgerClient) => () => Promise<readonly string[]>;
  /** Adds up new usage records, on SQLite. Rejects where the database fails or the thread dies. */
  readonly addUp: () => Promise<void>;
  /** Writes what waits, as `close` does, and leaves the thread to the domains. */
  readonly drain: () => Promise<number>;
  /** Ends the thread, after the last write of the domains. */
  readonly end: () => Promise<void>;
};

/** Why a ledger takes no new promises at the moment; absent where it does. */
export type LedgerProblem = 'stopped' | 'failing' | undefined;

/** The ledger as a server has it, in its main thread or in one of its others. */
export type ServingLedger = Ledger & {
  /** Why it takes no new promises at the moment; absent where it does. */
  readonly problem: () => LedgerProblem;
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

  const clients = new Map<number, LedgerClient>();
  const leaving = new Map<number, (requestIds: readonly string[]) => void>();
  let lastClient = 0;
  let addingUp: PromiseWithResolvers<void> | undefined;

  const tell = (message: ToThread, transfer: MessagePort[] = []): void =>
    thread?.postMessage(message, transfer);

  function link(client: number, { link: give }: LedgerClient): void {
    const [commands, writer] = [new MessageChannel(), new MessageChannel()];
    const ports = [commands.port1, writer.port1] as const;
    tell({ kind: 'client', client, port: ports[0], writer: ports[1] }, [...ports]);
    give(commands.port2, writer.port2);
  }

  function linkWriter(): void {
    if (options.writer === undefined) return;
    const { port1, port2 } = new MessageChannel();
    tell({ kind: 'writer', port: port1 }, [port1]);
    options.writer.link(port2);
  }

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
      if ('client' in data) {
        leaving.get(data.client)?.(data.requestIds);
        return;
      }
      if ('addedUp' in data) {
        endAddingUp(data.problem);
        return;
      }
      if (!open) {
        linkWriter();
        for (const [number, client] of clients) link(number, client);
      }
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
    options.writer?.unlink();
    endAddingUp('the thread of the ledger has stopped');
    if (wasOpen) for (const client of clients.values()) client.unlink(cause, true);
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

  function connect(client: LedgerClient): () => Promise<readonly string[]> {
    lastClient += 1;
    const number = lastClient;
    clients.set(number, client);
    if (open) link(number, client);
    return () => {
      clients.delete(number);
      if (!open) return Promise.resolve([]);
      return new Promise((resolve) => {
        leaving.set(number, (requestIds) => {
          leaving.delete(number);
          resolve(requestIds);
        });
        tell({ kind: 'gone', client: number });
      });
    };
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
    connect,
    addUp,
    drain: queue.ledger.close,
    end,
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
