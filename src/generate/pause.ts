// The pause before a repeated attempt.

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
