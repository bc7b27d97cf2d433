// Whether an answer comes fast enough, over a window of time that moves on in steps. Called by the
// watch of an attempt, which owns the clock; times are milliseconds since the answer began.

/** Steps in a window. */
const STEPS = 8;

/** `leastPerSecond` above 0, over every `windowMs`. */
export function createThroughput(windowMs: number, leastPerSecond: number) {
  return new MovingWindow(windowMs, leastPerSecond);
}

export type Throughput = ReturnType<typeof createThroughput>;

class MovingWindow {
  readonly #stepMs: number;
  readonly #least: number;
  readonly #made: number[] = new Array(STEPS).fill(0);
  #total = 0;
  /** Steps that are over. */
  #over = 0;

  constructor(windowMs: number, leastPerSecond: number) {
    this.#stepMs = windowMs / STEPS;
    this.#least = (leastPerSecond * windowMs) / 1_000;
  }

  /** When the window has next to be looked at. */
  nextCheckAt(): number {
    return Math.max(this.#over + 1, STEPS) * this.#stepMs;
  }

  /** Counts what was made by the time that was looked at last. */
  add(tokens: number): void {
    const step = this.#over % STEPS;
    this.#made[step] = (this.#made[step] ?? 0) + tokens;
    this.#total += tokens;
  }

  /**
   * Moves on to `atMs`, which never goes back. True as soon as a full window has made less than it
   * must; a window that has only begun is never too slow.
   */
  isTooSlow(atMs: number): boolean {
    while ((this.#over + 1) * this.#stepMs <= atMs) {
      if (this.#over + 1 >= STEPS && this.#total < this.#least) return true;
      this.#over += 1;
      const oldest = this.#over % STEPS;
      this.#total -= this.#made[oldest] ?? 0;
      this.#made[oldest] = 0;
    }
    return false;
  }
}
