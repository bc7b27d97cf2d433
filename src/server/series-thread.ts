// The thread that aggregates a long backlog of usage: on its own connection, in steps, with pauses
// in which the ledger gets the database. Started by `series.ts`; an entry point of the build.

import { catchUp } from '../ledger/series/catch-up.ts';
import { createRollUp } from '../ledger/series/roll-up.ts';
import { connectDatabase } from '../store/connect.ts';
import { serveThread } from './serve-thread.ts';

/** Posted to the thread, once. */
export type CatchUpRequest = { readonly url: string };

/**
 * A quarter of a core. The ledger waits for at most one step, and then has the database for three
 * times as long; over the network it does not wait.
 */
const STEP = { sqlite: { stepMs: 15, pauseMs: 45 }, postgres: { stepMs: 100, pauseMs: 15 } };

serveThread(async ({ url }: CatchUpRequest) => {
  // A power cut may undo whole steps; they are repeated.
  const database = connectDatabase({ url, sync: 'normal', patient: true });
  const monotonic = () => performance.now();
  const options = { ...STEP[database.dialect], monotonic, isStopped: () => false };
  await catchUp(createRollUp(database), options);
  await database.close();
});
