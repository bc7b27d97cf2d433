// What was admitted within the minute before these limits began: it fills the windows that a restart
// must not open. Asked of the books once.

import { createSingleFlight } from '../async/awaitable.ts';
import { WINDOW_MS } from '../core/window.ts';
import type { AdmissionHistory, PastAdmission } from './contract.ts';

/** Of one account, newest first, on the clock of these limits. */
export type Past = readonly (PastAdmission & { readonly atMs: number })[];

/**
 * What the process before this one has admitted within the last minute, account by account, on the
 * clock of this one. After a minute none of it counts any more.
 */
export function createPast(
  history: AdmissionHistory,
  clock: () => number,
  monotonic: () => number,
) {
  const startedMs = monotonic();
  let byAccount: Map<string, Past> | undefined;
  const asking = createSingleFlight();

  /** Undefined when it is known; else ask again when the promise is kept. */
  function load(): Promise<void> | undefined {
    if (byAccount !== undefined) return undefined;
    const timeMs = clock();
    const ask = () => history.admittedSince(timeMs - WINDOW_MS + 1);
    return asking('past', ask, (past) => {
      // What seems to come from the future was admitted before the clock was set back.
      const aged = past.map((each) => ({
        ...each,
        atMs: startedMs - Math.max(0, timeMs - each.startedAt),
      }));
      byAccount = Map.groupBy(aged, (each) => each.accountId);
    });
  }

  // A failure is left to those who have to know: they ask again.
  load()?.catch(() => {});
  return {
    load,
    of(accountId: string, nowMs: number): Past {
      if (nowMs - startedMs >= WINDOW_MS) byAccount?.clear();
      return byAccount?.get(accountId) ?? [];
    },
  };
}
