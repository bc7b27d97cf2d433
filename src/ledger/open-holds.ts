// The open holds that this writer has written itself, so that the end of a hold needs no second look
// at a row of which everything is known. The row decides all the same: a statement about a hold that
// has ended, or is of another amount than the one that is known, changes nothing and says so.

import { type Awaitable, andThen } from '../async/awaitable.ts';
import { addToExposure, type Exposure, NO_EXPOSURE } from '../core/exposure.ts';
import type { Micro } from '../core/money.ts';
import type { OpenHold } from './hold-statements.ts';
import type { Statements } from './statements.ts';

export type OpenHolds = ReturnType<typeof createOpenHolds>;

/** A server has fewer under way; above it, all are looked up again. */
const KNOWN_MAX = 10_000;

export function createOpenHolds(statements: Statements) {
  const known = new Map<string, OpenHold>();
  /** Accounts of which every open hold is known. */
  const byAccount = new Map<string, Map<string, Micro>>();

  /** After a rollback, or where somebody else has written. */
  function forget(): void {
    known.clear();
    byAccount.clear();
  }

  /** All open holds of an account, and the worst case of each. */
  function listed(accountId: string, worst: Map<string, Micro>): void {
    if (byAccount.size >= KNOWN_MAX) byAccount.clear();
    byAccount.set(accountId, worst);
  }

  function worstOf(accountId: string): Awaitable<Map<string, Micro>> {
    const own = byAccount.get(accountId);
    if (own !== undefined) return own;
    return andThen(statements.findWorst(accountId), (rows) => {
      const found = new Map(rows);
      listed(accountId, found);
      return found;
    });
  }

  return {
    /** As it is known, or as the books have it; `undefined` where there is none that is open. */
    find: (requestId: string): Awaitable<OpenHold | undefined> =>
      known.get(requestId) ?? statements.findOpenHold(requestId),
    /** Also where it was raised. */
    opened(requestId: string, hold: OpenHold): void {
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(requestId, hold);
      byAccount.get(hold.accountId)?.set(requestId, hold.worst);
    },
    ended(requestId: string, accountId: string): void {
      known.delete(requestId);
      byAccount.get(accountId)?.delete(requestId);
    },
    /** The worst cases of an account's open holds, one of them left out. */
    exposure: (accountId: string, but: string): Awaitable<Exposure> =>
      andThen(worstOf(accountId), (own) => {
        let sum = NO_EXPOSURE;
        for (const [requestId, worst] of own) {
          if (requestId !== but) sum = addToExposure(sum, worst);
        }
        return sum;
      }),
    listed,
    forget,
  };
}
