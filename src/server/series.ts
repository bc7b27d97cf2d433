// Keeps the series of a server close behind its ledger: every few seconds the new records are added
// up in short steps, on SQLite by the ledger's thread, which then waits for nothing but itself. Where
// very many are behind, as after an upgrade, a thread of their own does it, whose connection also
// keeps the database's log short. Made by serve.

import { every } from '../async/every.ts';
import { catchUp } from '../ledger/series/catch-up.ts';
import { createRollUp } from '../ledger/series/roll-up.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import type { CatchUpReport, CatchUpRequest } from './series-thread.ts';

export type ServingSeriesOptions = {
  readonly database: Database;
  /** Adds them up elsewhere. Absent where that is done here, over the network. */
  readonly addUp?: (() => Promise<void>) | undefined;
  /** Of the same database, for the thread. */
  readonly url: string;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** In place of the defaults, for tests. */
  readonly everyMs?: number;
  readonly threadFrom?: number;
};

const EVERY_MS = 2_000;

/** A step over the network mostly waits itself, for its round trips. */
const STEP = { stepMs: 50, pauseMs: 5 };

/** From so many records on a thread adds them up. */
const THREAD_FROM = 50_000;

/** Returns what stops it. */
export function startServingSeries(options: ServingSeriesOptions): () => void {
  const { database, url, monotonic, log, everyMs = EVERY_MS, threadFrom = THREAD_FROM } = options;
  const rollUp = createRollUp(database);
  const addUp =
    options.addUp ?? (() => catchUp(rollUp, { ...STEP, monotonic, isStopped: () => stopped }));
  let thread: Worker | undefined;
  let stopped = false;

  async function tick(): Promise<void> {
    const behind = await rollUp.behind();
    if (behind >= threadFrom) await runThread(behind);
    else if (behind > 0) await addUp();
  }

  async function runThread(behind: number): Promise<void> {
    log.info(`adding up ${behind} usage records of the past`);
    const report = await new Promise<CatchUpReport>((resolve) => {
      const started = startThread();
      thread = started;
      started.onmessage = ({ data }: MessageEvent<CatchUpReport>) => resolve(data);
      started.onerror = ({ message }) => resolve({ ok: false, cause: message });
      started.addEventListener('close', () =>
        resolve({ ok: false, cause: 'its thread has ended' }),
      );
      started.postMessage({ url } satisfies CatchUpRequest);
    });
    thread?.terminate();
    thread = undefined;
    if (!report.ok) throw new Error(report.cause);
    log.info('the usage records of the past are added up');
  }

  const stop = every(everyMs, tick, (error) => {
    if (!stopped) log.error('usage could not be added up; it is tried again', error);
  });
  return () => {
    stopped = true;
    stop();
    thread?.terminate();
  };
}

/** The build puts the thread beside the program, so this is its place in both. */
function startThread(): Worker {
  return new Worker(new URL('./series-thread.ts', import.meta.url).href);
}
