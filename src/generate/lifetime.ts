// One request's time in flight: what may end it early, its client or a server that stops, and what
// happens to its upstream then. The pipeline makes one for each request, before it holds anything.

import { mayHideThinking } from '../core/hidden.ts';
import type { Candidate } from '../core/route.ts';
import type { InFlight } from './in-flight.ts';

export type Lifetime = {
  /** Nobody waits for the answer any more: no upstream is to be asked. */
  readonly isOver: () => boolean;
  readonly hasLeft: () => boolean;
  /** The client has left, and its upstream is read on for its report. */
  readonly isDraining: () => boolean;
  /** From now on this is what ends with the request, in place of what was before it. */
  readonly follow: (followed: Followed) => void;
  /** To be called when the server ends what is still running, after what is followed has ended. */
  readonly onStop: (action: () => void) => void;
  /** Frees the slot when the client leaves; at once where it has. */
  readonly onLeave: (slot: Slot) => void;
  /** Says that the client has left; the signal of the call says it too. */
  readonly leave: () => void;
  /** To be called once the request has nothing left to write. */
  readonly end: () => void;
};

/**
 * A request's slot of its account's concurrency. It is free when its client leaves; but of answers
 * that are read on without their clients, no more than `most` of an account are without a slot.
 */
export type Slot = {
  readonly accountId: string;
  readonly most: number;
  readonly free: () => void;
};

/** What waits for an upstream. One that is not asked yet has no candidate, and nobody bills it. */
export type Followed = { readonly candidate?: Candidate; readonly abort: () => void };

/** The `signal` of the call fires when the client leaves. */
export function startLifetime(
  inFlight: InFlight,
  { requestId, signal }: { readonly requestId: string; readonly signal: AbortSignal },
): Lifetime {
  let current: Followed | undefined;
  let left = signal.aborted;
  let slot: Slot | undefined;
  let stopped: (() => void) | undefined;
  let isDraining = false;
  let endDrain: (() => void) | undefined;

  const stop = (): void => {
    current?.abort();
    stopped?.();
  };
  const leave = (): void => {
    if (left) return;
    left = true;
    isDraining = current !== undefined && isReadOn(current) && !inFlight.aborted();
    freeSlot();
    if (!isDraining) stop();
  };
  const freeSlot = (): void => {
    if (slot === undefined) return;
    if (isDraining) endDrain = inFlight.drain(slot.accountId, slot.most);
    if (!isDraining || endDrain !== undefined) slot.free();
  };
  const exit = inFlight.enter(requestId, stop);
  signal.addEventListener('abort', leave);
  const isOver = (): boolean => left || inFlight.aborted();

  return {
    isOver,
    hasLeft: () => left,
    isDraining: () => isDraining,
    leave,
    follow(followed) {
      current = followed;
      if (isOver()) followed.abort();
    },
    onStop(action) {
      stopped = action;
      if (inFlight.aborted()) action();
    },
    onLeave(taken) {
      slot = taken;
      if (left) freeSlot();
    },
    end() {
      signal.removeEventListener('abort', leave);
      endDrain?.();
      exit();
    },
  };
}

/**
 * Whether leaving does not stop the upstream: to abort saves nothing where it makes, and bills, the
 * whole answer all the same, and thinking that is hidden is known from its report alone.
 */
function isReadOn({ candidate }: Followed): boolean {
  if (candidate === undefined || candidate.upstream.dialect === 'demo') return false;
  return !candidate.upstream.cancelStopsBilling || mayHideThinking(candidate);
}
