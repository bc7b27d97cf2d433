// Whether an answer comes fast enough, over a window of time that moves on in steps. Called by the
// watch of an attempt, which owns the clock; times are milliseconds since the answer began.

/** Steps in a window. */
const STEPS = 8;

export type Throughput = ReturnType<typeof createThroughput>;

/** `leastPerSecond` above 0, over every `windowMs`. */
export function createThroughput(windowMs: number, leastPerSecond: number) {
  const stepMs = windowMs / STEPS;
  const least = (leastPerSecond * windowMs) / 1_000;
  const made: number[] = new Array(STEPS).fill(0);
  let total = 0;
  /** Steps that are over. */
  let over = 0;
  return {
    /** When the window has next to be looked at. */
    nextCheckAt: (): number => Math.max(over + 1, STEPS) * stepMs,
    /** Counts what was made by the time that was looked at last. */
    add(tokens: number): void {
      const step = over % STEPS;
      made[step] = (made[step] ?? 0) + tokens;
      total += tokens;
    },
    /**
     * Moves on to `atMs`, which never goes back. True as soon as a full window has made less than it
     * must; a window that has only begun is never too slow.
     */
    isTooSlow(atMs: number): boolean {
      while ((over + 1) * stepMs <= atMs) {
        if (over + 1 >= STEPS && total < least) return true;
        over += 1;
        const oldest = over % STEPS;
        total -= made[oldest] ?? 0;
        made[oldest] = 0;
      }
      return false;
    },
  };
}
