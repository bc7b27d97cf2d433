// Long reads in pieces: whoever reads much asks here between two pieces, and lets everybody else go
// first whenever the event loop was kept for too long.

/** For how long the event loop may be kept without a pause. */
const KEPT_MS_MAX = 4;

export type Pause = () => Promise<void> | undefined;

/** One for each read. `monotonic` are milliseconds of a clock that never jumps. */
export function createPause(monotonic = () => performance.now()): Pause {
  let since = monotonic();
  return () => {
    if (monotonic() - since < KEPT_MS_MAX) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = monotonic();
        resolve();
      });
    });
  };
}
