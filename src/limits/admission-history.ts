// Requests admitted within the minute before this process started. They fill the rate windows, so
// that a restart does not reset them. Read from the ledger once.

import { createSingleFlight } from '../async/awaitable.ts';
import { WINDOW_MS } from '../core/window.ts';
import type { AdmissionHistory, PastAdmission } from './contract.ts';

/** One account's admissions, newest first, on this process's monotonic clock. */
export type Past = readonly (PastAdmission & { readonly atMs: number })[];

/**
 * The admissions of the previous process within the last minute by account, on this process's
 * clock. After a minute none of them counts any more.
 */
export function createPast(
  history: AdmissionHistory,
  clock: () => number,
  monotonic: () => number,
) {
  const startedMs = monotonic();
  let byAccount: Map<string, Past> | undefined;
  const asking = createSingleFlight();

  /** Undefined if loaded; otherwise call again when the promise resolves. */
  function load(): Promise<void> | undefined {
    if (byAccount !== undefined) return undefined;
    const timeMs = clock();
    const ask = () => history.admittedSince(timeMs - WINDOW_MS + 1);
    return asking('past', ask, (past) => {
      // A time in the future means that the clock was set back since.
      const aged = past.map((each) => ({
        ...each,
        atMs: startedMs - Math.max(0, timeMs - each.startedAt),
      }));
      byAccount = Map.groupBy(aged, (each) => each.accountId);
    });
  }

  // Callers that need the result retry, so a failure is ignored here.
  load()?.catch(() => {});
  return {
    load,
    of(accountId: string, nowMs: number): Past {
      if (nowMs - startedMs >= WINDOW_MS) byAccount?.clear();
      return byAccount?.get(accountId) ?? [];
    },
  };
}
