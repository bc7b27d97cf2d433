// Waits for a promise for a bounded time. Where thousands wait at once, `core/deadlines.ts` is
// cheaper: its deadlines share one timer.

/** What the promise settles to, or `late` after so many milliseconds. Leaves no timer behind. */
export async function withTimeout<T, Late = undefined>(
  timeoutMs: number,
  promise: Promise<T>,
  late?: Late,
): Promise<T | Late> {
  const { promise: timeUp, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(() => resolve(late as Late), timeoutMs);
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
