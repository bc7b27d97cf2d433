// Detects answers that arrive too slowly, over a sliding window. The watch of an attempt owns the
// clock; times are milliseconds since the answer began.

/** Steps per window. */
const STEPS = 8;

/** Requires `leastPerSecond`, above 0, over every `windowMs`. */
export function createThroughput(windowMs: number, leastPerSecond: number) {
  return new MovingWindow(windowMs, leastPerSecond);
}

export type Throughput = ReturnType<typeof createThroughput>;

class MovingWindow {
  readonly #stepMs: number;
  readonly #least: number;
  readonly #made: number[] = new Array(STEPS).fill(0);
  #total = 0;
  /** Completed steps. */
  #over = 0;

  constructor(windowMs: number, leastPerSecond: number) {
    this.#stepMs = windowMs / STEPS;
    this.#least = (leastPerSecond * windowMs) / 1_000;
  }

  /** When the window has to be checked next. */
  nextCheckAt(): number {
    return Math.max(this.#over + 1, STEPS) * this.#stepMs;
  }

  /** Adds tokens at the time of the last check. */
  add(tokens: number): void {
    const step = this.#over % STEPS;
    this.#made[step] = (this.#made[step] ?? 0) + tokens;
    this.#total += tokens;
  }

  /**
   * Advances to `atMs`, which must not decrease. Returns true once a full window has fewer tokens
   * than required; a window that is not full is never too slow.
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
