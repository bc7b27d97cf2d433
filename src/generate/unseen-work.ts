// Measures how long an upstream works without showing anything, and buys what it makes in that time.
// Such time is the one before the first content, and each pause between two reads that is longer than
// those of a visible answer. Only waiting counts: a client that reads slowly adds nothing. The metered
// attempt has one for an answer that may hide what it costs.

import type { GenerationEvent } from '../core/generation.ts';
import { type Quiet, unseenTokens } from '../core/unseen.ts';
import { contentTokens } from '../upstream/content.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { Guard } from './guard.ts';

/** A shorter pause is that of a visible answer. */
const PAUSE_MS = 250;

/** How often the balance is asked for what an upstream makes unseen. */
const LOOK_MS = 1_000;

export class UnseenWork {
  readonly #monotonic: () => number;
  #waitsSince: number;
  /** Waited since the last content. */
  #pauseMs = 0;
  #isBlank = true;
  #quietMs = 0;
  #quietTokens = 0;
  #stopTimer: (() => void) | undefined;

  constructor(monotonic: () => number, begunAt: number) {
    this.#monotonic = monotonic;
    this.#waitsSince = begunAt;
  }

  /** Buys output at `pace` while it is made, and calls `broke` where the balance is empty. */
  cover(guard: Guard, pace: number, startTimer: StartTimer, broke: () => void): void {
    this.#stopTimer = startTimer(LOOK_MS, async () => {
      const isCovered = await guard.coverUnseen(unseenTokens(this.#untilNow(), pace));
      if (this.#stopTimer === undefined) return;
      if (isCovered) this.cover(guard, pace, startTimer, broke);
      else broke();
    });
  }

  /** The attempt has ended: nothing more is bought. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** The attempt starts to wait for the next read. The first wait began with the request. */
  wait(): void {
    if (!this.#isBlank) this.#waitsSince = this.#monotonic();
  }

  /** A read has arrived. Its tokens are those of the timers, since most reads end no pause. */
  arrived(events: readonly GenerationEvent[]): void {
    const nowMs = this.#monotonic();
    this.#pauseMs += nowMs - this.#waitsSince;
    this.#waitsSince = nowMs;
    const tokens = contentTokens(events);
    if (tokens === 0) return;
    if (this.#isLong()) {
      this.#quietMs += this.#pauseMs;
      this.#quietTokens += Math.round(tokens);
    }
    this.#isBlank = false;
    this.#pauseMs = 0;
  }

  /** Up to the last read, which a stopped attempt ends with. */
  total(): Quiet {
    const quietMs = this.#quietMs + (this.#isLong() ? this.#pauseMs : 0);
    return { quietMs: Math.round(quietMs), quietTokens: this.#quietTokens };
  }

  /** The same with the wait in progress. */
  #untilNow(): Quiet {
    const waitedMs = this.#monotonic() - this.#waitsSince;
    const { quietMs, quietTokens } = this.total();
    return { quietMs: quietMs + (waitedMs > PAUSE_MS ? waitedMs : 0), quietTokens };
  }

  #isLong(): boolean {
    return this.#isBlank || this.#pauseMs > PAUSE_MS;
  }
}
