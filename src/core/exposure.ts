// What the open requests of one account may still cost together. Called by the ledger for each hold
// and each extension. Pure.
//
// At most one open hold of an account may have a worst case that its balance, beside the worst cases
// of all others, does not cover. So with any reports up to the worst cases, in any
// order, an account loses the operator no more than one request.

import { add, larger, type Micro, micro, subtract, ZERO } from './money.ts';

/**
 * Above this sum of unpaid charges an account gets nothing that its balance does not cover in the
 * worst case: 100,000 service tokens, what 10 US cents buy at the default rate.
 */
export const UNPAID_MAX = micro(100_000n * 10n ** 6n);

/** The worst cases of an account's open holds, one that is about to change left out. */
export type Exposure = { readonly count: number; readonly sum: Micro; readonly largest: Micro };

export const NO_EXPOSURE: Exposure = { count: 0, sum: ZERO, largest: ZERO };

export function addToExposure({ count, sum, largest }: Exposure, worst: Micro): Exposure {
  return { count: count + 1, sum: add(sum, worst), largest: larger(worst, largest) };
}

/** `posted` is the balance with all that is held. */
type Wallet = { readonly posted: Micro; readonly unpaid: Micro };

/** Whether an account has caused losses beyond the bound. */
export function isRestricted(unpaid: Micro): boolean {
  return unpaid > UNPAID_MAX;
}

/**
 * The largest worst case that one more hold may have beside the others; undefined: any. An account
 * with unpaid charges gets an uncovered hold only while it has no other, and none at all where it is
 * restricted.
 */
export function exposureRoom({ posted, unpaid }: Wallet, others: Exposure): Micro | undefined {
  if (isRestricted(unpaid) || (unpaid > 0n && others.count > 0))
    return subtract(posted, others.sum);
  if (others.sum <= posted) return undefined;
  return subtract(posted, subtract(others.sum, others.largest));
}
