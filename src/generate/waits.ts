// What the search for an upstream waits for: a place in a queue, and the pause before a repeat.

import type { CandidateRefusal, Queued } from '../upstream/health.ts';
import type { Permit } from '../upstream/permit.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { Lifetime } from './lifetime.ts';

/** Resolves early if the request ends. */
export function pause(
  afterMs: number,
  {
    startTimer,
    lifetime,
  }: { readonly startTimer: StartTimer; readonly lifetime: Pick<Lifetime, 'follow'> },
): Promise<void> {
  return new Promise((resolve) => {
    const stopTimer = startTimer(afterMs, resolve);
    lifetime.follow({
      abort() {
        stopTimer();
        resolve();
      },
    });
  });
}

/** A client that leaves gives its place back. */
export function queue(
  { entry, leave }: Queued,
  lifetime: Pick<Lifetime, 'follow'>,
): Promise<Permit | CandidateRefusal> {
  lifetime.follow({ abort: leave });
  return entry;
}
