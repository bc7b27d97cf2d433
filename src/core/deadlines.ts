// Deadlines that share one timer: thousands of requests wait at once, and one timer each would cost
// more than most of them otherwise do. They use a monotonic clock, since a corrected wall clock
// would end every answer in progress. The owner of the clock calls `sweep`.

/** A pending deadline may be moved. */
export type Deadline = { at: number; readonly fire: () => void };

export type Deadlines = ReturnType<typeof createDeadlines>;

/** `now` must be monotonic, such as `performance.now`. */
export function createDeadlines(now: () => number) {
  const waiting = new Set<Deadline>();
  return {
    /** Milliseconds, on the clock of `at`. */
    now,
    add: (deadline: Deadline): void => void waiting.add(deadline),
    remove: (deadline: Deadline): void => void waiting.delete(deadline),
    /**
     * Calls `fire` after `afterMs`, at the latest one sweep later. Returns a function that cancels
     * it.
     */
    start(afterMs: number, fire: () => void): () => void {
      const deadline = { at: now() + afterMs, fire };
      waiting.add(deadline);
      return () => void waiting.delete(deadline);
    },
    /** Fires and removes every deadline that has passed. */
    sweep(): void {
      const nowMs = now();
      for (const deadline of waiting) {
        if (deadline.at > nowMs) continue;
        waiting.delete(deadline);
        deadline.fire();
      }
    },
  };
}
