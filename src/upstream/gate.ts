// Limits the concurrent requests at an upstream, with a short queue for more. Waits are bounded,
// and a request that leaves is removed immediately. A free place goes to the account with the
// fewest, then to the first in the queue. While two or more accounts are active, none may use more
// than three quarters of the places, so one account's slow requests cannot take them all; and an
// eighth of them is left to accounts that have none, so that a few accounts cannot either.
// `health.ts` has one gate for each upstream.

import { takeOff } from '../core/counts.ts';
import { createLatestTwo } from '../core/latest-two.ts';
import type { UpstreamConcurrency } from '../core/model.ts';
import type { StartTimer } from './timer.ts';

/** An account without requests for this long no longer counts as active. */
const PRESENT_MS = 60_000;

/** The part of the places that is left to accounts that have none. */
const NEWCOMERS = 8;

export type Waiting = {
  /** Whether a place was free in time; false for a request that left. */
  readonly isIn: Promise<boolean>;
  /** Has no effect once a place was granted: it must then be returned with `exit`. */
  readonly leave: () => void;
};

type Waiter = { readonly account: string; readonly enter: () => void };

export function createGate(startTimer: StartTimer, monotonic: () => number) {
  /** In order of arrival. */
  const queue = new Set<Waiter>();
  const held = new Map<string, number>();
  const senders = createLatestTwo();
  let inFlight = 0;
  let maxInFlight = 0;

  const heldBy = (account: string): number => held.get(account) ?? 0;
  /** The places that the account may use: all of them if no other account is active. */
  const shareOf = (account: string, all: number): number => {
    const isAlone = senders.othersAt(account) <= monotonic() - PRESENT_MS;
    return isAlone ? all : Math.max(Math.floor(all * 0.75), 1);
  };
  const mayEnter = (account: string): boolean => {
    const own = heldBy(account);
    const share = shareOf(account, maxInFlight);
    const left = own === 0 || share === maxInFlight ? 0 : Math.floor(maxInFlight / NEWCOMERS);
    return inFlight < maxInFlight - left && own < share;
  };
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
    /** The limits come from the caller's catalog snapshot and may change between two calls. */
    enter(account: string, concurrency: UpstreamConcurrency): 'in' | 'full' | Waiting {
      const { queueLength, queueMs } = concurrency;
      maxInFlight = concurrency.maxInFlight;
      senders.note(account, monotonic());
      // The limit may have risen: queued requests go first.
      letIn();
      if (mayEnter(account)) {
        take(account);
        return 'in';
      }
      if (queue.size >= queueLength) return 'full';
      return waitingOf(account) < shareOf(account, queueLength) ? wait(account, queueMs) : 'full';
    },
    /** Returns one place of the account. */
    exit(account: string): void {
      inFlight -= 1;
      takeOff(held, account);
      letIn();
    },
    inFlight: () => inFlight,
    queued: () => queue.size,
  };
}
