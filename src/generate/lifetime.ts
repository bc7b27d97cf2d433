// One request's time in flight: what may end it early, its client or a server that stops, and what
// happens to its upstream then. The pipeline makes one for each request, before it holds anything.

import { mayHideThinking } from '../core/hidden.ts';
import type { Candidate } from '../core/route.ts';
import type { InFlight } from './in-flight.ts';

export type Lifetime = ReturnType<typeof startLifetime>;

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
) {
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
  /** Says that the client has left; the signal of the call says it too. */
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
  /** Nobody waits for the answer any more: no upstream is to be asked. */
  const isOver = (): boolean => left || inFlight.aborted();

  return {
    isOver,
    hasLeft: (): boolean => left,
    /** The client has left, and its upstream is read on for its report. */
    isDraining: (): boolean => isDraining,
    leave,
    /** From now on this is what ends with the request, in place of what was before it. */
    follow(followed: Followed): void {
      current = followed;
      if (isOver()) followed.abort();
    },
    /** To be called when the server ends what is still running, after what is followed has ended. */
    onStop(action: () => void): void {
      stopped = action;
      if (inFlight.aborted()) action();
    },
    /** Frees the slot when the client leaves; at once where it has. */
    onLeave(taken: Slot): void {
      slot = taken;
      if (left) freeSlot();
    },
    /** To be called once the request has nothing left to write. */
    end(): void {
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
