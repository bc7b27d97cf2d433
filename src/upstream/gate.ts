// How many requests may be under way at an upstream, and a short queue for the next ones. None waits
// for long, and a request that leaves is gone at once. A place that is free goes to the account that
// has the fewest, and among those to the first; while two accounts send, a quarter of the places is
// out of reach for each of them, so that one account's slow requests never hold them all. `health.ts`
// has one gate for each upstream.

import { createLatestTwo } from '../core/latest-two.ts';
import type { UpstreamConcurrency } from '../core/model.ts';
import type { StartTimer } from './timer.ts';

/** An account that has sent nothing for so long leaves its part to the others. */
const PRESENT_MS = 60_000;

export type Waiting = {
  /** Whether there was a place in time. For a request that leaves there was none. */
  readonly isIn: Promise<boolean>;
  /** Changes nothing once there was a place: then that has to be given back. */
  readonly leave: () => void;
};

type Waiter = { readonly account: string; readonly enter: () => void };

export function createGate(startTimer: StartTimer, monotonic: () => number) {
  /** In the order in which they came. */
  const queue = new Set<Waiter>();
  const held = new Map<string, number>();
  const senders = createLatestTwo();
  let inFlight = 0;
  let maxInFlight = 0;

  const heldBy = (account: string): number => held.get(account) ?? 0;
  /** What of all places the account may have: all of them where it is alone. */
  const shareOf = (account: string, all: number): number => {
    const isAlone = senders.othersAt(account) <= monotonic() - PRESENT_MS;
    return isAlone ? all : Math.max(Math.floor(all * 0.75), 1);
  };
  const mayEnter = (account: string): boolean =>
    inFlight < maxInFlight && heldBy(account) < shareOf(account, maxInFlight);
  const take = (account: string): void => {
    inFlight += 1;
    held.set(account, heldBy(account) + 1);
  };

  const letIn = (): void => {
    while (queue.size > 0 && inFlight < maxInFlight) {
      let next: Waiter | undefined;
      for (const waiter of queue) {
        if (!mayEnter(waiter.account)) continue;
        if (next === undefined || heldBy(waiter.account) < heldBy(next.account)) next = waiter;
      }
      if (next === undefined) return;
      next.enter();
    }
  };

  const waitingOf = (account: string): number =>
    [...queue].filter((waiter) => waiter.account === account).length;

  const wait = (account: string, queueMs: number): Waiting => {
    const { promise: isIn, resolve } = Promise.withResolvers<boolean>();
    const leave = (): void => {
      if (!queue.delete(waiter)) return;
      stopTimer();
      resolve(false);
    };
    const enter = (): void => {
      queue.delete(waiter);
      stopTimer();
      take(account);
      resolve(true);
    };
    const waiter: Waiter = { account, enter };
    const stopTimer = startTimer(queueMs, leave);
    queue.add(waiter);
    return { isIn, leave };
  };

  return {
    /** The limits are those of the caller's catalog: they may change between two calls. */
    enter(account: string, concurrency: UpstreamConcurrency): 'in' | 'full' | Waiting {
      const { queueLength, queueMs } = concurrency;
      maxInFlight = concurrency.maxInFlight;
      senders.note(account, monotonic());
      // There may be more room than there was: what waits is not overtaken.
      letIn();
      if (mayEnter(account)) {
        take(account);
        return 'in';
      }
      if (queue.size >= queueLength) return 'full';
      return waitingOf(account) < shareOf(account, queueLength) ? wait(account, queueMs) : 'full';
    },
    /** Gives one place of the account back. */
    exit(account: string): void {
      inFlight -= 1;
      const left = heldBy(account) - 1;
      if (left > 0) held.set(account, left);
      else held.delete(account);
      letIn();
    },
    inFlight: () => inFlight,
    queued: () => queue.size,
  };
}
