// Limits how much of something each account may have per minute: characters of uncached prompt text
// that are counted, refusals that use no request, bytes of answers that are repeated,
// lookups of kept thinking. It protects the CPU and the network of a node, so each keeps its own budget.

import { GatewayError } from '../core/error.ts';
import { putLast } from '../core/recent.ts';

const MINUTE_MS = 60_000;
const MINUTE_SECONDS = 60;

/** Above this many accounts, the least recently active one is evicted. */
const ACCOUNTS_MAX = 20_000;

/** `left` refills at `perMinute` per minute. Below zero, the account has to wait. */
type Bucket = { readonly left: number; readonly atMs: number };

export type MinuteBudgets = ReturnType<typeof createMinuteBudgets>;

export function createMinuteBudgets(monotonic: () => number) {
  const buckets = new Map<string, Bucket>();
  return {
    /**
     * Takes `amount` from the account's budget, or returns the seconds to wait. A request may
     * overdraw the budget and later requests wait for the refill, so no request is too large for it.
     */
    claim(accountId: string, perMinute: number, amount: number): number | undefined {
      if (amount === 0) return undefined;
      const nowMs = monotonic();
      const bucket = buckets.get(accountId) ?? { left: perMinute, atMs: nowMs };
      const grown = bucket.left + ((nowMs - bucket.atMs) * perMinute) / MINUTE_MS;
      if (grown < 0) return Math.max(1, Math.ceil((-grown / perMinute) * MINUTE_SECONDS));
      const left = Math.min(grown, perMinute) - amount;
      putLast(buckets, accountId, { left, atMs: nowMs }, ACCOUNTS_MAX);
      return undefined;
    },
  };
}

/** Throws 429 where a budget says how many seconds to wait. `explain` makes a message of them. */
export function requireBudget(
  retryAfterSeconds: number | undefined,
  explain?: (seconds: number) => string,
): void {
  if (retryAfterSeconds === undefined) return;
  const message = explain?.(retryAfterSeconds);
  throw new GatewayError('rate_limit_exceeded', {
    retryAfterSeconds,
    ...(message === undefined ? {} : { message }),
  });
}
