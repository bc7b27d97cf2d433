// A one-shot timer, passed as an argument so that tests need not wait.

/** Calls `fire` after `afterMs`. Returns a function that cancels it. */
export type StartTimer = (afterMs: number, fire: () => void) => () => void;

export const startTimer: StartTimer = (afterMs, fire) => {
  const timer = setTimeout(fire, afterMs);
  return () => clearTimeout(timer);
};
