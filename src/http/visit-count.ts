// Counts requests without a valid key by the network of their client, in memory.

import type { MinuteBudgets } from '../generate/minute-budget.ts';
import { networkGroup } from '../identity/address.ts';

/** An office behind one address opens pages of some ten files each. */
export const VISITS_PER_MINUTE = 6_000;

/** How late an answer above the bound is. Probes of orchestrators give up after 1 s. */
export const LATE_MS = 500;

/**
 * Counts visits of a client. Returns the seconds to wait if its network has used up its visits.
 * `listener`: strangers behind a proxy that is not trusted must not keep operators out of the console.
 */
export type CountVisit = (
  address: string,
  visits?: number,
  listener?: 'public' | 'console',
) => number | undefined;

export function createVisitCount(budgets: MinuteBudgets): CountVisit {
  return (address, visits = 1, listener = 'public') =>
    budgets.claim(`${listener} ${networkGroup(address)}`, VISITS_PER_MINUTE, visits);
}
