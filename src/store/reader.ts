// Reads for pages in a thread of its own, on SQLite: however long a statement takes, the thread that
// serves goes on. The thread starts with the first read, and ends after a while without one.

import { every, type Stop } from '../async/every.ts';
import { messageOf } from '../core/message-of.ts';
import { WriterFailure } from './error.ts';
import { createWriterClient, type WriterClient } from './writer/client.ts';

/** Posted to the thread, once. */
export type ReadRequest = { readonly url: string; readonly port: MessagePort };

/** Of a thread that is asked more, every read fails. */
const STATEMENT_MS_MAX = 1_000;

const LOOK_MS = 100;

/** How many threads may go on after their read has failed: each takes a core. */
const LEFT_MAX = 1;

/** With its caches, the thread takes some 20 MB. */
const IDLE_MS = 60_000;

/** Reads of a database, each in a snapshot or on its own. */
export type PageReader = Pick<WriterClient, 'transaction' | 'alone' | 'current'> & {
  readonly close: () => void;
};

type ReaderOptions = {
  readonly url: string;
  /** Starts the thread. Throws where there is no room for one. */
  readonly startThread: () => Worker;
  /** Replaces the defaults in tests. */
  readonly statementMsMax?: number;
  readonly idleMs?: number;
};

export function createReader(options: ReaderOptions): PageReader {
  const { url, startThread, statementMsMax = STATEMENT_MS_MAX, idleMs = IDLE_MS } = options;
  const client = createWriterClient();
  let thread: Worker | undefined;
  let stopLooking: Stop | undefined;
  /** With those that were left behind and that a statement keeps. */
  const alive = new Set<Worker>();
  let reads = 0;
  let readAt = 0;

  function start(): Worker {
    if (alive.size > LEFT_MAX) {
      throw new WriterFailure('SQLITE_BUSY', 'Reads that took too long are not over yet.');
    }
    const started = tryToStart(startThread);
    const { port1: port, port2: own } = new MessageChannel();
    let message = 'The reading thread has stopped.';
    alive.add(started);
    started.onerror = (error) => {
      message = error.message;
    };
    // Fired once, also after an error.
    started.addEventListener('close', () => {
      alive.delete(started);
      if (thread === started) end(new WriterFailure('SQLITE_ABORT', message));
    });
    started.postMessage({ url, port } satisfies ReadRequest, [port]);
    client.link(own);
    stopLooking = every(LOOK_MS, look);
    return started;
  }

  function look(): void {
    if (client.owedMs() > statementMsMax) {
      end(new WriterFailure('SQLITE_INTERRUPT', `A page read for more than ${statementMsMax} ms.`));
    }
    if (reads === 0 && performance.now() - readAt > idleMs) end();
  }

  /** A statement of its own goes on until it is over, unheard. */
  function end(cause?: Error): void {
    stopLooking?.();
    client.unlink(cause);
    thread?.terminate();
    thread = undefined;
  }

  async function during<T>(read: () => Promise<T>): Promise<T> {
    thread ??= start();
    reads += 1;
    try {
      return await read();
    } finally {
      reads -= 1;
      readAt = performance.now();
    }
  }

  return {
    transaction: (owner, sync, work) => during(() => client.transaction(owner, sync, work)),
    alone: (sync, ask) => during(() => client.alone(sync, ask)),
    current: client.current,
    close: end,
  };
}

/** Where there is no room for a thread, the database cannot be read. */
function tryToStart(startThread: () => Worker): Worker {
  try {
    return startThread();
  } catch (cause) {
    throw new WriterFailure('SQLITE_CANTOPEN', messageOf(cause));
  }
}
