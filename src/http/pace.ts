// Decides that a request body arrives too slowly: a connection that sends nothing must not keep its
// slot and its room. A sender of 16 KB a second is served, however long its body takes.

import type { Deadline, Deadlines } from '../core/deadlines.ts';

const BYTES_PER_MS = 16;

/** No network is even: what so much time brings may be missing. */
const SLACK_MS = 1_500;

const CHECK_MS = 1_000;

/** Over so many checks, so that an early burst pays for no later silence. */
const SPAN_CHECKS = 5;

/** A busy process can be late itself, with bytes that it has not read. */
const SECOND_LOOK_MS = 100;

/** A body without a byte ends after this time. */
export const SILENCE_MS = 2_000;

/** One for each body that is read in chunks. Call `end` when it has arrived. */
export class Pace implements Deadline {
  at: number;
  isLate = false;
  readonly #deadlines: Deadlines;
  readonly #onLate: () => void;
  /** The last checks, the oldest first, and what had arrived by then. */
  readonly #marks: { readonly at: number; readonly bytes: number }[] = [];
  #bytes = 0;
  #isDoubted = false;

  constructor(deadlines: Deadlines, onLate: () => void) {
    this.#deadlines = deadlines;
    this.#onLate = onLate;
    this.at = deadlines.now();
    this.#mark();
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  end(): void {
    this.#deadlines.remove(this);
  }

  /** Called by the deadlines. */
  fire(): void {
    if (this.#isInTime()) {
      this.#isDoubted = false;
      this.#mark();
    } else if (!this.#isDoubted) {
      this.#isDoubted = true;
      this.#wait(SECOND_LOOK_MS);
    } else {
      this.isLate = true;
      this.#onLate();
    }
  }

  #isInTime(): boolean {
    const [oldest] = this.#marks;
    if (oldest === undefined) return true;
    // The time of the first look, so that the second one asks for no more.
    const spanMs = this.at - oldest.at - SLACK_MS - (this.#isDoubted ? SECOND_LOOK_MS : 0);
    return this.#bytes - oldest.bytes >= spanMs * BYTES_PER_MS;
  }

  #mark(): void {
    const at = this.#deadlines.now();
    this.#marks.push({ at, bytes: this.#bytes });
    if (this.#marks.length > SPAN_CHECKS) this.#marks.shift();
    this.#wait(CHECK_MS);
  }

  #wait(ms: number): void {
    this.at = this.#deadlines.now() + ms;
    this.#deadlines.add(this);
  }
}
