// The thread of one run of retention: archives and removes on its own connection, in steps, with
// pauses in which the ledger gets the database. Started by `retention.ts`; an entry point of the
// build.

import { createRest } from '../async/rest.ts';
import { type RetentionReport, runRetention } from '../operations/archive/run.ts';
import { connectDatabase } from '../store/connect.ts';
import { serveThread } from './serve-thread.ts';

/** Posted to the thread, once. */
export type RetentionRequest = {
  readonly url: string;
  readonly directory: string;
  readonly retentionDays: number;
  readonly nowMs: number;
};

/** Of one core: enough for 600 requests a second, day and night. */
const SHARE = 0.1;

/** The ledger waits for one step, and then has the database for nine times as long. */
const STEP = { sqlite: { stepMs: 15, pauseMs: 135 }, postgres: { stepMs: 100, pauseMs: 900 } };

serveThread(run);

async function run(
  { url, ...request }: RetentionRequest,
  log: (text: string) => void,
): Promise<RetentionReport> {
  // Anchors come before removals in the log of the database, so a power cut cannot separate them.
  const database = connectDatabase({ url, sync: 'full', patient: true });
  const monotonic = () => performance.now();
  try {
    return await runRetention({
      ...request,
      database,
      log,
      rest: createRest(SHARE),
      removal: { ...STEP[database.dialect], monotonic, isStopped: () => false },
    });
  } finally {
    await database.close();
  }
}
