// The open holds that this writer has written itself, so that the end of a hold needs no second look
// at a row of which everything is known. The row decides all the same: a statement about a hold that
// has ended, or is of another amount than the one that is known, changes nothing and says so.

import type { Awaitable } from '../core/awaitable.ts';
import type { Micro } from '../core/money.ts';
import type { OpenHold } from './hold-statements.ts';
import type { Statements } from './statements.ts';

export type OpenHolds = {
  /** As it is known, or as the books have it; `undefined` where there is none that is open. */
  readonly find: (requestId: string) => Awaitable<OpenHold | undefined>;
  readonly opened: (requestId: string, hold: OpenHold) => void;
  readonly raised: (requestId: string, amount: Micro) => void;
  readonly ended: (requestId: string) => void;
  /** After a rollback, or where somebody else has written. */
  readonly forget: () => void;
};

/** A server has fewer under way; above it, all are looked up again. */
const KNOWN_MAX = 10_000;

export function createOpenHolds(statements: Statements): OpenHolds {
  const known = new Map<string, OpenHold>();
  return {
    find: (requestId) => known.get(requestId) ?? statements.findOpenHold(requestId),
    opened(requestId, hold) {
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(requestId, hold);
    },
    raised(requestId, amount) {
      const hold = known.get(requestId);
      if (hold !== undefined) known.set(requestId, { ...hold, amount });
    },
    ended: (requestId) => void known.delete(requestId),
    forget: () => known.clear(),
  };
}
