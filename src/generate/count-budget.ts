// How many characters of new prompt text each account may have counted in a minute. It protects the
// processor of this process, so each node keeps its own.

import { putLast } from '../core/recent.ts';

const MINUTE_MS = 60_000;
const MINUTE_SECONDS = 60;

/** Above this many accounts the one that was idle for longest is forgotten. */
const ACCOUNTS_MAX = 20_000;

/** `left` grows to `perMinute` in a minute. Below zero, the account waits. */
type Bucket = { readonly left: number; readonly atMs: number };

export function createCountBudgets(monotonic: () => number) {
  const buckets = new Map<string, Bucket>();
  return {
    /**
     * Takes `characters` from what the account has left, or answers in how many seconds it may. More
     * than is left may be taken, and is made up for afterwards: no request is too long for a budget.
     */
    claim(accountId: string, perMinute: number, characters: number): number | undefined {
      if (characters === 0) return undefined;
      const nowMs = monotonic();
      const bucket = buckets.get(accountId) ?? { left: perMinute, atMs: nowMs };
      const grown = bucket.left + ((nowMs - bucket.atMs) * perMinute) / MINUTE_MS;
      if (grown < 0) return Math.max(1, Math.ceil((-grown / perMinute) * MINUTE_SECONDS));
      const left = Math.min(grown, perMinute) - characters;
      putLast(buckets, accountId, { left, atMs: nowMs }, ACCOUNTS_MAX);
      return undefined;
    },
  };
}
