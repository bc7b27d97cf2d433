// Starts an answer while the route may still be searching for an upstream. After a long silence the
// client receives headers and heartbeats while the search continues. The pump reads this like the
// one attempt that serves.

import type { Awaitable } from '../async/awaitable.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Found, Routed } from './route.ts';

const NOT_ASKED: Batch = {
  events: [],
  end: { class: 'cut', detail: 'the request was given up' },
};

export class Opening<A extends Attempt> implements Pick<Attempt, 'next' | 'abort'> {
  readonly #routed: Extract<Routed<A>, { readonly kind: 'serving' | 'silent' }>;
  readonly #log: Pick<AttemptLog, 'add'>;
  #attempt: A | undefined;
  #isNoted = false;

  constructor(
    routed: Extract<Routed<A>, { readonly kind: 'serving' | 'silent' }>,
    log: Pick<AttemptLog, 'add'>,
  ) {
    this.#routed = routed;
    this.#log = log;
    if (routed.kind === 'serving') this.#attempt = routed.attempt;
  }

  /**
   * Returns the first events of the answer, or the failure. If the headers were sent before the
   * serving model was known, passes its slug to `name` first. Call it once.
   */
  begin(name: (model: string) => void): Awaitable<Batch> {
    const routed = this.#routed;
    if (routed.kind === 'serving') return routed.first;
    return routed.found.then((found) => {
      const first = this.#open(found);
      if (this.#attempt !== undefined) name(this.#attempt.candidate.model.slug);
      return first;
    });
  }

  next(): Promise<Batch> {
    return this.#attempt?.next() ?? Promise.resolve(NOT_ASKED);
  }

  abort(): void {
    this.#attempt?.abort();
  }

  /**
   * The serving attempt, or the last one if the client disconnected. Undefined if every attempt
   * failed.
   */
  attempt(): A | undefined {
    return this.#attempt;
  }

  /** Records how that attempt ended, unless the route has already done so. */
  note(failure: UpstreamFailure | undefined): void {
    if (this.#attempt !== undefined && !this.#isNoted) this.#log.add(this.#attempt, failure);
  }

  #open(found: Found<A>): Batch {
    switch (found.kind) {
      case 'serving':
        this.#attempt = found.attempt;
        return found.first;
      case 'cancelled':
        this.#attempt = found.asked?.attempt;
        this.#isNoted = true;
        return found.asked?.first ?? NOT_ASKED;
      case 'failed':
        return { events: [], end: found.failure };
    }
  }
}
