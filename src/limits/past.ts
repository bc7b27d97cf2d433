// What was admitted within the minute before these limits began: it fills the windows that a restart
// must not open. Asked of the books once; the limits of one process and those of its threads use it.

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
  let loading: Promise<void> | undefined;

  const know = (timeMs: number, past: readonly PastAdmission[]): void => {
    // What seems to come from the future was admitted before the clock was set back.
    const aged = past.map((each) => ({
      ...each,
      atMs: startedMs - Math.max(0, timeMs - each.startedAt),
    }));
    byAccount = Map.groupBy(aged, (each) => each.accountId);
  };

  /** Undefined when it is known; else ask again when the promise is kept. */
  function load(): Promise<void> | undefined {
    if (byAccount !== undefined || loading !== undefined) return loading;
    const timeMs = clock();
    const past = history.admittedSince(timeMs - WINDOW_MS + 1);
    if (!(past instanceof Promise)) {
      know(timeMs, past);
      return undefined;
    }
    loading = past
      .then((known) => know(timeMs, known))
      .finally(() => {
        loading = undefined;
      });
    return loading;
  }

  // Whoever has to know it hears of a failure, and asks again.
  load()?.catch(() => {});
  return {
    load,
    of(accountId: string, nowMs: number): Past {
      if (nowMs - startedMs >= WINDOW_MS) byAccount?.clear();
      return byAccount?.get(accountId) ?? [];
    },
  };
}
