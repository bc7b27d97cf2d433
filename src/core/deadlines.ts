// Deadlines that share one ticking: thousands of requests wait at once, and a timer for each would
// cost more than most of them do otherwise. Their clock is one that never jumps, or a wall clock that
// is put right would end every answer under way. Whoever owns the clock calls `sweep`.

/** A deadline may be moved while it waits. */
export type Deadline = { at: number; readonly fire: () => void };

export type Deadlines = ReturnType<typeof createDeadlines>;

/** `now` never jumps, as `performance.now` does not. */
export function createDeadlines(now: () => number) {
  const waiting = new Set<Deadline>();
  return {
    /** Milliseconds, of the clock that `at` is in. */
    now,
    add: (deadline: Deadline): void => void waiting.add(deadline),
    remove: (deadline: Deadline): void => void waiting.delete(deadline),
    /** Calls `fire` after so many milliseconds or a sweep later; what it returns takes that back. */
    start(afterMs: number, fire: () => void): () => void {
      const deadline = { at: now() + afterMs, fire };
      waiting.add(deadline);
      return () => void waiting.delete(deadline);
    },
    /** Fires and forgets every deadline that has passed. */
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
