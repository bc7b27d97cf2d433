// Reads more than one batch of an attempt: up to the first content, to the end of a whole answer,
// or to the end of a drain.

import { exhaustion } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import { isAnswer } from '../upstream/content.ts';

export type Until = {
  /** `content`: up to the first content event. `end`: up to a complete answer. */
  readonly until: 'content' | 'end';
  /**
   * Whether the client's format has a finish reason for an answer cut for lack of upstream
   * capacity.
   */
  readonly tellsExhaustion: boolean;
  /** Whether the client sees thinking. Hidden thinking is not content. */
  readonly showsReasoning: boolean;
};

/**
 * Collects batches until there is content (or a finish: an empty answer counts), or until the end.
 * Aborts the attempt if reading throws, because no other reader would stop the upstream and end its
 * permit.
 */
export async function readUntil(
  attempt: Attempt,
  { until, tellsExhaustion, showsReasoning }: Until,
): Promise<Batch> {
  const isContent = (event: GenerationEvent): boolean =>
    isAnswer(event) && (showsReasoning || event.kind !== 'reasoning-delta');
  let collected: GenerationEvent[] | undefined;
  try {
    for (;;) {
      const batch = await attempt.next();
      if (collected !== undefined) for (const event of batch.events) collected.push(event);
      const events = collected ?? batch.events;
      // A stream commits with its first content, regardless of what follows in the same read.
      const tells = until === 'content' || tellsExhaustion;
      const failure = exhaustion(events, tells, showsReasoning);
      if (failure !== undefined) {
        attempt.abort();
        return { events, end: failure };
      }
      // Earlier batches had no content: searching them again would take longer with each one.
      const isEnough =
        batch.end !== undefined || (until === 'content' && batch.events.some(isContent));
      if (isEnough) return collected === undefined ? batch : { ...batch, events };
      collected ??= [...events];
    }
  } catch (error) {
    attempt.abort();
    throw error;
  }
}

/** Drains the attempt for its usage report. Aborting the attempt ends this. */
export async function readToEnd(attempt: Attempt): Promise<void> {
  for (;;) {
    const { end: over } = await attempt.next();
    if (over !== undefined) return;
  }
}
