// One request's time in flight: what may end it early, its client or a server that stops, and what
// happens to its upstream then. The pipeline makes one for each request, before it holds anything.

import { mayHideThinking } from '../core/hidden.ts';
import type { Candidate } from '../core/route.ts';
import type { InFlight } from './in-flight.ts';

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
export class Lifetime {
  readonly #inFlight: InFlight;
  readonly #requestId: string;
  #current: Followed | undefined;
  #hasLeft: boolean;
  #slot: Slot | undefined;
  #stopped: (() => void) | undefined;
  /** The signal outlives the request, and to take a listener from it costs as much as to add it. */
  #hasEnded = false;
  #isGivenUp = false;
  #isDraining = false;
  #endDrain: (() => void) | undefined;

  constructor(
    inFlight: InFlight,
    { requestId, signal }: { readonly requestId: string; readonly signal: AbortSignal },
  ) {
    this.#inFlight = inFlight;
    this.#requestId = requestId;
    this.#hasLeft = signal.aborted;
    inFlight.enter(requestId, this);
    signal.addEventListener('abort', this);
  }

  /** There will be no answer: no upstream is to be asked. */
  isOver(): boolean {
    return this.#hasLeft || this.#isGivenUp || this.#inFlight.aborted();
  }

  hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** The client has left, and its upstream is read on for its report. */
  isDraining(): boolean {
    return this.#isDraining;
  }

  /** Says that the client has left; the signal of the call says it too. */
  leave(): void {
    if (this.#hasLeft || this.#hasEnded) return;
    this.#hasLeft = true;
    const followed = this.#current;
    this.#isDraining = followed !== undefined && isReadOn(followed) && !this.#inFlight.aborted();
    this.#freeSlot();
    if (!this.#isDraining) this.stop();
  }

  /** There is no money for the request after all. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.stop();
  }

  /** What the signal calls. */
  handleEvent(): void {
    this.leave();
  }

  /** The server ends what is still running, or the client has left. */
  stop(): void {
    this.#current?.abort();
    this.#stopped?.();
  }

  /** From now on this is what ends with the request, in place of what was before it. */
  follow(followed: Followed): void {
    this.#current = followed;
    if (this.isOver()) followed.abort();
  }

  /** To be called when the server ends what is still running, after what is followed has ended. */
  onStop(action: () => void): void {
    this.#stopped = action;
    if (this.#inFlight.aborted()) action();
  }

  /** Frees the slot when the client leaves; at once where it has. */
  onLeave(taken: Slot): void {
    this.#slot = taken;
    if (this.#hasLeft) this.#freeSlot();
  }

  /** To be called once the request has nothing left to write. */
  end(): void {
    this.#hasEnded = true;
    this.#endDrain?.();
    this.#inFlight.exit(this.#requestId);
  }

  #freeSlot(): void {
    const slot = this.#slot;
    if (slot === undefined) return;
    if (this.#isDraining) this.#endDrain = this.#inFlight.drain(slot.accountId, slot.most);
    if (!this.#isDraining || this.#endDrain !== undefined) slot.free();
  }
}

/**
 * Whether leaving does not stop the upstream: to abort saves nothing where it makes, and bills, the
 * whole answer all the same, and thinking that is hidden is known from its report alone.
 */
function isReadOn({ candidate }: Followed): boolean {
  if (candidate === undefined || candidate.upstream.dialect === 'demo') return false;
  return !candidate.upstream.cancelStopsBilling || mayHideThinking(candidate);
}
