// One monotonic clock for all threads: each has one that began with it, so it asks the main thread
// what time it is there, a few times, and believes the answer that came quickest.

const ROUNDS = 5;

export type AgreedTime = {
  /** The main thread's `performance.now`, once they have agreed. */
  readonly monotonic: () => number;
  readonly agreed: Promise<void>;
  /** The answer to what was asked last. */
  readonly answer: (nowMs: number) => void;
};

export function agreeOnTime(ask: () => void): AgreedTime {
  const { promise: agreed, resolve } = Promise.withResolvers<void>();
  let round = 0;
  let askedAt = 0;
  let quickestMs = Number.POSITIVE_INFINITY;
  let offsetMs = 0;

  function next(): void {
    if (round === ROUNDS) {
      resolve();
      return;
    }
    round += 1;
    askedAt = performance.now();
    ask();
  }

  next();
  return {
    monotonic: () => performance.now() + offsetMs,
    agreed,
    answer(nowMs) {
      const answeredAt = performance.now();
      const tripMs = answeredAt - askedAt;
      if (tripMs < quickestMs) {
        quickestMs = tripMs;
        offsetMs = nowMs - (askedAt + answeredAt) / 2;
      }
      next();
    },
  };
}
