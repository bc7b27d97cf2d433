// An answer that is passed on while the route may still be looking for its upstream: after too long a
// silence the client gets headers and heartbeats, and the search goes on. The pump reads this as if
// it were the one attempt that serves.

import type { UpstreamFailure } from '../core/failure.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Found, Routed } from './route.ts';

export type Opening<A extends Attempt> = Pick<Attempt, 'next' | 'abort'> & {
  /**
   * The events that the answer begins with, or why there are none. Where the headers left before
   * the model that serves was known, its slug is handed to `name` first. To be called once.
   */
  readonly begin: (name: (model: string) => void) => Promise<Batch>;
  /** The attempt that serves, or the last one of a client that left; absent where none is left. */
  readonly attempt: () => A | undefined;
  /** Notes how that attempt ended, unless the route has. */
  readonly note: (failure: UpstreamFailure | undefined) => void;
};

const NOT_ASKED: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };

export function openAnswer<A extends Attempt>(
  routed: Extract<Routed<A>, { readonly kind: 'serving' | 'silent' }>,
  log: Pick<AttemptLog, 'add'>,
): Opening<A> {
  let attempt: A | undefined;
  let isNoted = false;
  const isUnnamed = routed.kind === 'silent';
  const found: Promise<Found<A>> = isUnnamed ? routed.found : Promise.resolve(routed);
  const first = found.then((what): Batch => {
    switch (what.kind) {
      case 'serving':
        attempt = what.attempt;
        return what.first;
      case 'cancelled':
        attempt = what.asked?.attempt;
        isNoted = true;
        return what.asked?.first ?? { events: [], end: NOT_ASKED };
      case 'failed':
        return { events: [], end: what.failure };
    }
  });
  return {
    async begin(name) {
      const batch = await first;
      if (isUnnamed && attempt !== undefined) name(attempt.candidate.model.slug);
      return batch;
    },
    next: () => attempt?.next() ?? first,
    abort: () => attempt?.abort(),
    attempt: () => attempt,
    note(failure) {
      if (attempt !== undefined && !isNoted) log.add(attempt, failure);
    },
  };
}
