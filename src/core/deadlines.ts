// Deadlines that share one ticking: thousands of requests wait at once, and a timer for each would
// cost more than most of them do otherwise. Pure: the shell that owns the clock calls `sweep`.

/** A deadline may be moved while it waits. */
export type Deadline = { at: number; readonly fire: () => void };

export type Deadlines = {
  readonly add: (deadline: Deadline) => void;
  readonly remove: (deadline: Deadline) => void;
  /** Fires and forgets every deadline that has passed. */
  readonly sweep: (nowMs: number) => void;
};

export function createDeadlines(): Deadlines {
  const waiting = new Set<Deadline>();
  return {
    add: (deadline) => void waiting.add(deadline),
    remove: (deadline) => void waiting.delete(deadline),
    sweep(nowMs) {
      for (const deadline of waiting) {
        if (deadline.at > nowMs) continue;
        waiting.delete(deadline);
        deadline.fire();
      }
    },
  };
}
