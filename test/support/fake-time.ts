// A clock and timers that a test advances by hand, or that advance when the process is idle.

import type { StartTimer } from '../../src/upstream/timer.ts';

export type FakeTime = {
  readonly now: () => number;
  readonly startTimer: StartTimer;
  /** How long each timer was to run, in the order in which they were started. */
  readonly started: readonly number[];
  readonly waiting: () => number;
  /** Moves the clock, and fires what is due on the way in its order. */
  readonly advance: (ms: number) => void;
};

/** `runsByItself`: a timer fires as soon as the event loop is idle, with the clock moved to it. */
export function createFakeTime({ runsByItself = false } = {}): FakeTime {
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  const started: number[] = [];
  let nowMs = 0;

  const advanceTo = (untilMs: number): void => {
    for (;;) {
      const [next] = [...timers].sort((a, b) => a.at - b.at);
      if (next === undefined || next.at > untilMs) break;
      timers.delete(next);
      nowMs = Math.max(nowMs, next.at);
      next.fire();
    }
    nowMs = Math.max(nowMs, untilMs);
  };
  return {
    now: () => nowMs,
    startTimer(afterMs, fire) {
      const timer = { at: nowMs + afterMs, fire };
      timers.add(timer);
      started.push(afterMs);
      if (runsByItself) {
        setImmediate(() => {
          if (timers.has(timer)) advanceTo(timer.at);
        });
      }
      return () => void timers.delete(timer);
    },
    started,
    waiting: () => timers.size,
    advance: (ms) => advanceTo(nowMs + ms),
  };
}
