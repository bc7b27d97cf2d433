// Tells the health of an upstream how an attempt fares, from what it brings: that content has come,
// and how it ended. Whoever stops an attempt ends its permit itself.

import { exhaustion } from '../core/failure.ts';
import type { Batch } from './attempt.ts';
import type { Permit } from './health.ts';

/** To be told of every batch of the attempt; with the one that has an end, the permit ends. */
export function watchPermit(permit: Permit): (batch: Batch) => void {
  let hasContent = false;
  return ({ events, end }) => {
    // An upstream that says itself that it had no room has not served well, whatever it had sent.
    const exhausted = exhaustion(events, false);
    if (!hasContent && events.some((event) => event.kind !== 'usage')) {
      hasContent = true;
      if (exhausted === undefined) permit.answered();
    }
    if (end !== undefined) permit.end(end === 'finished' ? (exhausted ?? end) : end);
  };
}
