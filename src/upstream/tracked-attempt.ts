// An attempt that tells the health of its upstream how it fares: that content has come, and how it
// ended, whoever reads it and whoever stops it. Made by the pipeline for every attempt.

import type { UpstreamFailure } from '../core/failure.ts';
import type { Attempt, Batch } from './attempt.ts';
import type { Permit } from './health.ts';

/** Ends the permit when the attempt ends: with the batch that has an end, or with the abort. */
export function trackAttempt(attempt: Attempt, permit: Permit): Attempt {
  let hasContent = false;
  const see = (batch: Batch): Batch => {
    if (!hasContent && batch.events.some((event) => event.kind !== 'usage')) {
      hasContent = true;
      if (exhausted(batch) === undefined) permit.answered();
    }
    const { end } = batch;
    if (end !== undefined) permit.end(end === 'finished' ? (exhausted(batch) ?? end) : end);
    return batch;
  };
  return {
    ...attempt,
    next: () => attempt.next().then(see),
    abort() {
      permit.end('given_up');
      attempt.abort();
    },
  };
}

/** An upstream that says itself that it had no room has not served well, whatever it had sent. */
function exhausted({ events }: Batch): UpstreamFailure | undefined {
  const finish = events.at(-1);
  if (finish?.kind !== 'finish' || finish.reason !== 'insufficient_system_resource') return;
  return { class: 'overloaded', detail: 'the upstream had no capacity to finish' };
}
