// One request's lifetime: what may end it early (client disconnect or shutdown) and what then
// happens to its upstream. The pipeline creates one per request, before it holds anything.

import { isReadOn } from '../core/hidden.ts';
import type { Candidate } from '../core/route.ts';
import type { InFlight } from './in-flight.ts';
import type { GenerationCall } from './pipeline-types.ts';

/**
 * A request's concurrency slot. It is freed when the client disconnects, except that at most `most`
 * drained answers of an account may run without a slot.
 */
export type Slot = {
  readonly accountId: string;
  readonly most: number;
  readonly free: () => void;
};

/** The client of a stream. Shutdown does not wait for one that has stopped reading. */
type StreamClient = { readonly leave: () => void; readonly hurry: () => void };

/** What waits for an upstream. Before an upstream is called there is no candidate and no bill. */
export type Followed = { readonly candidate?: Candidate; readonly abort: () => void };

/** The call's `signal` fires when the client disconnects. */
export class Lifetime {
  readonly #inFlight: InFlight;
  readonly #requestId: string;
  #call: Pick<GenerationCall, 'limitIdle'> | undefined;
  #current: Followed | undefined;
  #hasLeft: boolean;
  #slot: Slot | undefined;
  #client: StreamClient | undefined;
  /**
   * The signal outlives the request. This flag replaces removing the listener, which costs as much
   * as adding it.
   */
  #hasEnded = false;
  #isGivenUp = false;
  #isDraining = false;
  #endDrain: (() => void) | undefined;

  constructor(
    inFlight: InFlight,
    call: Pick<GenerationCall, 'requestId' | 'signal' | 'limitIdle'>,
  ) {
    const { requestId, signal } = call;
    this.#inFlight = inFlight;
    this.#requestId = requestId;
    this.#call = call;
    this.#hasLeft = signal.aborted;
    inFlight.enter(requestId, this);
    signal.addEventListener('abort', this);
  }

  /** The request has ended early: no further upstream may be called. */
  isOver(): boolean {
    return this.#hasLeft || this.#isGivenUp || this.#inFlight.aborted();
  }

  hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** The client disconnected and its upstream is drained for the usage report. */
  isDraining(): boolean {
    return this.#isDraining;
  }

  /** Reports a disconnect; the signal of the call reports it too. */
  leave(): void {
    if (this.#hasLeft || this.#hasEnded) return;
    this.#hasLeft = true;
    this.#call?.limitIdle?.();
    const candidate = this.#current?.candidate;
    this.#isDraining = candidate !== undefined && isReadOn(candidate) && !this.#inFlight.aborted();
    this.#freeSlot();
    this.#client?.leave();
    if (!this.#isDraining) this.stop();
  }

  /** Ends the request because its hold was lost. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.stop();
  }

  /** Listener of the signal. */
  handleEvent(): void {
    this.leave();
  }

  /** Ends the request: shutdown, or the client disconnected. */
  stop(): void {
    this.#current?.abort();
    this.#client?.hurry();
  }

  /** Replaces what is aborted when the request ends. */
  follow(followed: Followed): void {
    this.#current = followed;
    if (this.isOver()) followed.abort();
  }

  /** From here on the answer is a stream to this client. */
  serve(client: StreamClient): void {
    this.#client = client;
    if (this.#hasLeft) client.leave();
  }

  /** Frees the slot when the client disconnects, or immediately if it already has. */
  onLeave(taken: Slot): void {
    this.#slot = taken;
    if (this.#hasLeft) this.#freeSlot();
  }

  /** Call when the request has nothing left to write. */
  end(): void {
    this.#hasEnded = true;
    this.#call?.limitIdle?.();
    // The signal, and with it this, lives as long as the connection; the prompt must not.
    this.#call = undefined;
    this.#current = undefined;
    this.#slot = undefined;
    this.#client = undefined;
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
