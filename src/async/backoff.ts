// Exponential backoff: 100 ms, doubling to 5 s.

const FIRST_MS = 100;
const LAST_MS = 5_000;

export type Backoff = {
  /** The wait before the next attempt, in milliseconds; doubles each time. */
  readonly next: () => number;
  /** Call after a success: the next wait is the shortest again. */
  readonly reset: () => void;
};

export function createBackoff(): Backoff {
  let nextMs = FIRST_MS;
  return {
    next() {
      const waitMs = nextMs;
      nextMs = Math.min(nextMs * 2, LAST_MS);
      return waitMs;
    },
    reset() {
      nextMs = FIRST_MS;
    },
  };
}
