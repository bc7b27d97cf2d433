// How often an upstream may be asked the same again: a fifth of what it is asked, and a little more
// where it is quiet. An upstream that is down would otherwise get three times the load at the very
// moment when it needs less. To ask another candidate is not repeating: the breakers bound that.

import { createRollingPair } from './rolling.ts';

/** One repetition for so many requests of the last ten seconds: 20 %. */
const REQUESTS_PER_REPETITION = 5;

/** Beside the share: one a second, or a server with few requests would have no second try at all. */
const FLOOR = 10;

export type RetryBudget = {
  /** Notes a request that is asked for the first time. */
  readonly note: (nowMs: number) => void;
  /** Takes one repetition, or says that there is none. */
  readonly take: (nowMs: number) => boolean;
};

/** Times are milliseconds of a clock that never jumps. */
export function createRetryBudget(): RetryBudget {
  const window = createRollingPair();
  return {
    note: (nowMs) => window.add(0, nowMs),
    take(nowMs) {
      const [requests, repetitions] = window.totals(nowMs);
      if ((repetitions + 1 - FLOOR) * REQUESTS_PER_REPETITION > requests) return false;
      window.add(1, nowMs);
      return true;
    },
  };
}
