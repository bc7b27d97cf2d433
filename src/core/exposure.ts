// Bounds what the open requests of one account may still cost together. The ledger calls it for
// each hold and each extension. Pure.
//
// At most one open hold of an account may have a worst case that is not covered by its balance
// beside the worst cases of all others, but for a small allowance. So the operator loses at most one
// request and the allowance per account, for any usage reports up to the worst cases, in any order.

import { add, larger, type Micro, micro, subtract, ZERO } from './money.ts';

/**
 * Above this sum of unpaid charges, an account gets only requests whose worst case its balance
 * covers: 100,000 service tokens, worth 10 US cents at the default rate.
 */
export const UNPAID_MAX = micro(100_000n * 10n ** 6n);

/**
 * What the worst cases of an account without unpaid charges may lack beside that: 10,000 service
 * tokens, worth one US cent at the default rate. A small balance thus serves all requests that it
 * can pay at once, although each may cost more than expected.
 */
export const ALLOWANCE = micro(10_000n * 10n ** 6n);

/** The worst cases of an account's open holds, except the one that is about to change. */
export type Exposure = { readonly count: number; readonly sum: Micro; readonly largest: Micro };

export const NO_EXPOSURE: Exposure = { count: 0, sum: ZERO, largest: ZERO };

export function addToExposure({ count, sum, largest }: Exposure, worst: Micro): Exposure {
  return { count: count + 1, sum: add(sum, worst), largest: larger(worst, largest) };
}

/** `posted` is the balance including all holds. */
type Wallet = { readonly posted: Micro; readonly unpaid: Micro };

/** Whether an account's unpaid charges exceed the bound. */
export function isRestricted(unpaid: Micro): boolean {
  return unpaid > UNPAID_MAX;
}

/**
 * The largest worst case allowed for one more hold; undefined means any. An account with unpaid
 * charges gets an uncovered hold only if it has no other one, and none if it is restricted.
 */
export function exposureRoom({ posted, unpaid }: Wallet, others: Exposure): Micro | undefined {
  if (isRestricted(unpaid) || (unpaid > 0n && others.count > 0))
    return subtract(posted, others.sum);
  const covered = add(posted, ALLOWANCE);
  if (others.sum <= covered) return undefined;
  return subtract(covered, subtract(others.sum, others.largest));
}
