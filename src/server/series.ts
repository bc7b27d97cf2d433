// Keeps the usage series of a server close behind its ledger: aggregates new records every few
// seconds in short steps, on SQLite in the ledger's thread. A large backlog, as after an upgrade,
// gets a thread of its own, whose connection also checkpoints the database's log.

import { every } from '../async/every.ts';
import { catchUp } from '../ledger/series/catch-up.ts';
import { createRollUp } from '../ledger/series/roll-up.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import type { CatchUpRequest } from './series-thread.ts';
import { type AskedThread, askThread } from './thread.ts';

export type ServingSeriesOptions = {
  readonly database: Database;
  /** Aggregates elsewhere. Absent where it is done here, over the network. */
  readonly addUp?: (() => Promise<void>) | undefined;
  /** The same database, for the thread. */
  readonly url: string;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** Replaces the default in tests. */
  readonly everyMs?: number;
  readonly threadFrom?: number;
};

const EVERY_MS = 2_000;

/** A step over the network mostly waits for round trips itself. */
const STEP = { stepMs: 50, pauseMs: 5 };

/** The backlog, in records, from which a thread is used. */
const THREAD_FROM = 50_000;

/** Returns a function that stops it. */
export function startServingSeries(options: ServingSeriesOptions): () => void {
  const { database, url, monotonic, log, everyMs = EVERY_MS, threadFrom = THREAD_FROM } = options;
  const rollUp = createRollUp(database);
  const addUp =
    options.addUp ?? (() => catchUp(rollUp, { ...STEP, monotonic, isStopped: () => stopped }));
  let thread: AskedThread<void> | undefined;
  let stopped = false;

  async function tick(): Promise<void> {
    const behind = await rollUp.behind();
    if (behind >= threadFrom) await runThread(behind);
    else if (behind > 0) await addUp();
  }

  async function runThread(behind: number): Promise<void> {
    log.info(`aggregating ${behind} older usage records`);
    thread = askThread<CatchUpRequest, void>('./series-thread.ts', () => ({ url }));
    await thread.answer;
    log.info('the older usage records are aggregated');
  }

  const stop = every(everyMs, tick, (error) => {
    if (!stopped) log.error('usage could not be aggregated; retrying', error);
  });
  return () => {
    stopped = true;
    stop();
    thread?.stop();
  };
}
