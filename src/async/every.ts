// Repeats a task. A run that takes longer than the interval skips the runs that it overlaps.

/** Ends what was begun. */
export type Stop = () => void;

export type Every = (ms: number, task: () => unknown, onError?: (error: unknown) => void) => Stop;

/**
 * The first run is after `ms`. The timer does not keep the process alive, and a run that has begun
 * ends after `stop`. Without `onError` a failed run is an unhandled rejection, which ends the server.
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
