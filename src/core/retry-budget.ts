// How often an upstream may be asked the same again: a fifth of what it is asked, and a little more
// where it is quiet. An upstream that is down would otherwise get three times the load at the very
// moment when it needs less. To ask another candidate is not repeating: the breakers bound that. No
// account takes more than half of it while another one sends: its failures may be its own.

import { createLatestTwo } from './latest-two.ts';
import { putLast } from './recent.ts';
import { createRollingPair, type RollingPair } from './rolling.ts';

/** One repetition for so many requests of the last ten seconds: 20 %. */
const REQUESTS_PER_REPETITION = 5;

/** Beside the share: one a second, or a server with few requests would have no second try at all. */
const FLOOR = 10;

/** An account that has sent nothing for so long takes no part. */
const PRESENT_MS = 10_000;

/** Accounts that are counted apart; the one that repeated longest ago is forgotten first. */
const ACCOUNTS_MAX = 256;

/** Times are milliseconds of a clock that never jumps. */
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
    /** Notes a request that is asked for the first time. */
    note(account: string, nowMs: number): void {
      window.add(0, nowMs);
      senders.note(account, nowMs);
    },
    /** Takes one repetition, or says that there is none. */
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
