// Limits retries at an upstream to a fifth of its requests, plus a small allowance for quiet ones.
// Otherwise an upstream that is down would get three times the load when it needs less. Failing
// over to another candidate is not a retry: the breakers bound that. While other accounts are
// active, one account may use at most half of the budget, because its failures may be its own.

import { createLatestTwo } from './latest-two.ts';
import { putLast } from './recent.ts';
import { createRollingPair, type RollingPair } from './rolling.ts';

/** One retry per this many requests of the last ten seconds: 20 %. */
const REQUESTS_PER_REPETITION = 5;

/** Added to the share: one retry per second, or a quiet server could never retry. */
const FLOOR = 10;

/** An account without requests for this long no longer counts as active. */
const PRESENT_MS = 10_000;

/** Accounts counted separately; the one with the oldest retry is evicted first. */
const ACCOUNTS_MAX = 256;

/** Times are milliseconds of a monotonic clock. */
export function createRetryBudget() {
  const window = createRollingPair();
  const senders = createLatestTwo();
  const taken = new Map<string, RollingPair>();

  const takenBy = (account: string): RollingPair => {
    const own = taken.get(account) ?? createRollingPair();
    putLast(taken, account, own, ACCOUNTS_MAX);
    return own;
  };

  return {
    /** Counts the first attempt of a request. */
    note(account: string, nowMs: number): void {
      window.add(0, nowMs);
      senders.note(account, nowMs);
    },
    /** Takes one retry from the budget; false if none is left. */
    take(account: string, nowMs: number): boolean {
      const [requests, repetitions] = window.totals(nowMs);
      if ((repetitions + 1 - FLOOR) * REQUESTS_PER_REPETITION > requests) return false;
      const own = takenBy(account);
      const [ownRepetitions] = own.totals(nowMs);
      const isShared = senders.othersAt(account) > nowMs - PRESENT_MS;
      const most = requests / REQUESTS_PER_REPETITION + FLOOR;
      if (isShared && ownRepetitions + 1 > most / 2) return false;
      own.add(0, nowMs);
      window.add(1, nowMs);
      return true;
    },
  };
}
