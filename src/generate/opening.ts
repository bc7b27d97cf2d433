// An answer that is passed on while it may still be looked for: after too long a silence the client
// gets its headers and heartbeats, and the route goes on behind them. The pump reads this as if it
// were the one attempt that serves.

import type { UpstreamFailure } from '../core/failure.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Found } from './route.ts';

export type Opening<A extends Attempt> = Pick<Attempt, 'next' | 'abort'> & {
  /** The events that the answer begins with, or why there are none. */
  readonly first: Promise<Batch>;
  /** Who was asked last, for this answer; absent where nobody was, or everybody has failed. */
  readonly attempt: () => A | undefined;
  /** Notes how that attempt ended, unless the route has. */
  readonly note: (failure: UpstreamFailure | undefined) => void;
};

const NOBODY_ASKED: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };

export function openAnswer<A extends Attempt>(
  found: Promise<Found<A>>,
  log: Pick<AttemptLog, 'add'>,
): Opening<A> {
  let attempt: A | undefined;
  let isNoted = false;
  const first = found.then((what): Batch => {
    switch (what.kind) {
      case 'serving':
        attempt = what.attempt;
        return what.first;
      case 'cancelled':
        attempt = what.asked?.attempt;
        isNoted = true;
        return what.asked?.first ?? { events: [], end: NOBODY_ASKED };
      case 'failed':
        return { events: [], end: what.failure };
    }
  });
  return {
    first,
    next: () => attempt?.next() ?? first,
    abort: () => attempt?.abort(),
    attempt: () => attempt,
    note(failure) {
      if (attempt !== undefined && !isNoted) log.add(attempt, failure);
    },
  };
}
