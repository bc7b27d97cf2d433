// Deadlines that share one ticking: thousands of requests wait at once, and a timer for each would
// cost more than most of them do otherwise. Their clock is one that never jumps, or a wall clock that
// is put right would end every answer under way. Whoever owns the clock calls `sweep`.

/** A deadline may be moved while it waits. */
export type Deadline = { at: number; readonly fire: () => void };

export type Deadlines = {
  /** Milliseconds, of the clock that `at` is in. */
  readonly now: () => number;
  readonly add: (deadline: Deadline) => void;
  readonly remove: (deadline: Deadline) => void;
  /** Fires and forgets every deadline that has passed. */
  readonly sweep: () => void;
};

/** `now` never jumps, as `performance.now` does not. */
export function createDeadlines(now: () => number): Deadlines {
  const waiting = new Set<Deadline>();
  return {
    now,
    add: (deadline) => void waiting.add(deadline),
    remove: (deadline) => void waiting.delete(deadline),
    sweep() {
      const nowMs = now();
      for (const deadline of waiting) {
        if (deadline.at > nowMs) continue;
        waiting.delete(deadline);
        deadline.fire();
      }
    },
  };
}
