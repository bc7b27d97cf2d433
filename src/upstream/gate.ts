// How many requests may be under way at an upstream, and a short queue for the next ones: first come,
// first served, none waits for long, and who leaves is gone at once. Each place is given back once,
// by whoever was let in. `health.ts` has one for each upstream.

import type { UpstreamConcurrency } from '../core/model.ts';
import type { StartTimer } from './timer.ts';

export type Waiting = {
  /** Whether there was a place in time. Whoever leaves is told that there was none. */
  readonly isIn: Promise<boolean>;
  /** Changes nothing once there was a place: then that has to be given back. */
  readonly leave: () => void;
};

export type Gate = {
  /** The limits are those of the caller's catalog: they may change between two calls. */
  readonly enter: (concurrency: UpstreamConcurrency) => 'in' | 'full' | Waiting;
  /** Gives one place back, to the first who waits. */
  readonly exit: () => void;
  readonly inFlight: () => number;
  readonly queued: () => number;
};

export function createGate(startTimer: StartTimer): Gate {
  /** In the order in which they came. */
  const queue = new Set<() => void>();
  let inFlight = 0;
  let maxInFlight = 0;

  const letIn = (): void => {
    for (const enter of queue) {
      if (inFlight >= maxInFlight) return;
      enter();
    }
  };

  const wait = (queueMs: number): Waiting => {
    const { promise: isIn, resolve } = Promise.withResolvers<boolean>();
    const leave = (): void => {
      if (!queue.delete(enter)) return;
      stopTimer();
      resolve(false);
    };
    const enter = (): void => {
      queue.delete(enter);
      stopTimer();
      inFlight += 1;
      resolve(true);
    };
    const stopTimer = startTimer(queueMs, leave);
    queue.add(enter);
    return { isIn, leave };
  };

  return {
    enter(concurrency) {
      maxInFlight = concurrency.maxInFlight;
      // There may be more room than there was: nobody who waits is overtaken.
      letIn();
      if (queue.size === 0 && inFlight < maxInFlight) {
        inFlight += 1;
        return 'in';
      }
      return queue.size < concurrency.queueLength ? wait(concurrency.queueMs) : 'full';
    },
    exit() {
      inFlight -= 1;
      letIn();
    },
    inFlight: () => inFlight,
    queued: () => queue.size,
  };
}
