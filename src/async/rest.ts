// Shares a core with more urgent work: a long task rests for as long as it has worked, within bounds,
// because a busy machine makes its work look long.

/** A task that worked for this long rests. */
const WORK_MS = 10;

const REST_MS_MAX = 20;

/** Await it often. `monotonic` is a clock in milliseconds that never jumps. */
export function createRest(monotonic: () => number): () => Promise<void> {
  let since = monotonic();
  return async () => {
    const workedMs = monotonic() - since;
    if (workedMs < WORK_MS) return;
    await Bun.sleep(Math.min(REST_MS_MAX, workedMs));
    since = monotonic();
  };
}
