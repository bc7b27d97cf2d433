// One call at a later time. An argument to what waits, so that no test has to.

/** Calls `fire` after so many milliseconds; what it returns takes that back. */
export type StartTimer = (afterMs: number, fire: () => void) => () => void;

export const startTimer: StartTimer = (afterMs, fire) => {
  const timer = setTimeout(fire, afterMs);
  return () => clearTimeout(timer);
};
