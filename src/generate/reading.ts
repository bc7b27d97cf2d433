// Reads an attempt further than one batch: up to what it has to deliver before it may serve, or to its
// end where no client waits any more.

import { exhaustion } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import { isAnswer } from '../upstream/content.ts';

type Until = {
  /** `content`: to the first content event. `end`: to a complete answer. */
  readonly until: 'content' | 'end';
  /** Whether an answer that the upstream cut for lack of capacity is one in the client's format. */
  readonly tellsExhaustion: boolean;
};

/**
 * Collects batches until there is content (or a finish: an empty answer is one), or to the end. Where
 * that throws, the attempt is aborted: no other reader would stop the upstream and end its permit.
 */
export async function readUntil(
  attempt: Attempt,
  { until, tellsExhaustion }: Until,
): Promise<Batch> {
  let collected: GenerationEvent[] | undefined;
  try {
    for (;;) {
      const batch = await attempt.next();
      if (collected !== undefined) for (const event of batch.events) collected.push(event);
      const events = collected ?? batch.events;
      // A stream commits with its first content, whatever follows it in the same read.
      const failure = exhaustion(events, until === 'content' || tellsExhaustion);
      if (failure !== undefined) {
        attempt.abort();
        return { events, end: failure };
      }
      const isEnough = batch.end !== undefined || (until === 'content' && events.some(isAnswer));
      if (isEnough) return collected === undefined ? batch : { ...batch, events };
      collected ??= [...events];
    }
  } catch (error) {
    attempt.abort();
    throw error;
  }
}

/** Reads on for the upstream's report of its usage; whoever aborts the attempt ends this. */
export async function readToEnd(attempt: Attempt): Promise<void> {
  for (;;) {
    const { end: over } = await attempt.next();
    if (over !== undefined) return;
  }
}
