// Repeats a task at an interval. Skips the runs that a longer run overlaps.

/** Stops the repetition. */
export type Stop = () => void;

export type Every = (ms: number, task: () => unknown, onError?: (error: unknown) => void) => Stop;

/**
 * The first run is after `ms`. The timer does not keep the process alive, and a run in progress
 * completes after `stop`. Without `onError` a failed run is an unhandled rejection, which ends the
 * server.
 */
export const every: Every = (ms, task, onError) => {
  let isRunning = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await task();
    } catch (error) {
      if (onError === undefined) throw error;
      onError(error);
    } finally {
      isRunning = false;
    }
  }, ms);
  timer.unref();
  return () => clearInterval(timer);
};
