// How long to wait before something that failed is tried again: 100 ms, doubling to 5 s.

const FIRST_MS = 100;
const LAST_MS = 5_000;

export type Backoff = {
  /** The wait before the next attempt, in milliseconds; twice the one before. */
  readonly next: () => number;
  /** After a success: the next wait is the first one again. */
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
