// The thread that adds up a long past: on a connection of its own, in steps that leave the database
// to the ledger in between, until nothing is behind. Started by `series.ts`; an entry point
// of the build.

import { catchUp } from '../ledger/series/catch-up.ts';
import { createRollUp } from '../ledger/series/roll-up.ts';
import { connectDatabase } from '../store/connect.ts';

/** Posted to the thread, once. */
export type CatchUpRequest = { readonly url: string };

/** Posted back, once. */
export type CatchUpReport = { readonly ok: true } | { readonly ok: false; readonly cause: string };

/**
 * The ledger waits for a step at most, and has the database to itself for as long; over the network
 * it does not wait.
 */
const STEP = { sqlite: { stepMs: 15, pauseMs: 15 }, postgres: { stepMs: 100, pauseMs: 15 } };

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<CatchUpRequest>) => {
  try {
    // A power cut may take steps back, each of them whole; they are taken again.
    const database = connectDatabase({ url: data.url, sync: 'normal', patient: true });
    const monotonic = () => performance.now();
    const options = { ...STEP[database.dialect], monotonic, isStopped: () => false };
    await catchUp(createRollUp(database), options);
    await database.close();
    self.postMessage({ ok: true } satisfies CatchUpReport);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    self.postMessage({ ok: false, cause } satisfies CatchUpReport);
  }
};
