// One request's time in flight: what may end it early, its client or a server that stops, and what
// happens to its upstream then. The pipeline makes one for each request, before it holds anything.

import type { Candidate } from '../core/route.ts';
import type { InFlight } from './in-flight.ts';

export type Lifetime = {
  /** Nobody waits for the answer any more: no upstream is to be asked. */
  readonly isOver: () => boolean;
  readonly hasLeft: () => boolean;
  /** The client has left, and its upstream is read on because it bills to the end. */
  readonly isDraining: () => boolean;
  /** From now on this is what ends with the request, in place of what was before it. */
  readonly follow: (followed: Followed) => void;
  /** To be called when the server ends what is still running, after what is followed has ended. */
  readonly onStop: (action: () => void) => void;
  /** To be called, once, when the client leaves; at once where it has. */
  readonly onLeave: (action: () => void) => void;
  /** Says that the client has left; the signal of the call says it too. */
  readonly leave: () => void;
  /** To be called once the request has nothing left to write. */
  readonly end: () => void;
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
  let freed: (() => void) | undefined;
  let stopped: (() => void) | undefined;
  let endDrain: (() => void) | undefined;

  const stop = (): void => {
    current?.abort();
    stopped?.();
  };
  const leave = (): void => {
    if (left) return;
    left = true;
    freed?.();
    // To abort saves nothing where the upstream makes, and bills, the whole answer all the same.
    if (current !== undefined && billsToTheEnd(current)) endDrain = inFlight.drain(stop);
    if (endDrain === undefined) stop();
  };
  const exit = inFlight.enter(requestId, stop);
  signal.addEventListener('abort', leave);
  const isOver = (): boolean => left || inFlight.aborted();

  return {
    isOver,
    hasLeft: () => left,
    isDraining: () => endDrain !== undefined,
    leave,
    follow(followed) {
      current = followed;
      if (isOver()) followed.abort();
    },
    onStop(action) {
      stopped = action;
      if (inFlight.aborted()) action();
    },
    onLeave(action) {
      freed = action;
      if (left) action();
    },
    end() {
      signal.removeEventListener('abort', leave);
      endDrain?.();
      exit();
    },
  };
}

function billsToTheEnd({ candidate }: Followed): boolean {
  const upstream = candidate?.upstream;
  return upstream !== undefined && upstream.dialect !== 'demo' && !upstream.cancelStopsBilling;
}
