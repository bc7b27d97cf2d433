// Waits for a promise with a time limit. For thousands of concurrent waits, `core/deadlines.ts` is
// cheaper because its deadlines share one timer.

/** The promise's result, or `late` after the time limit. Always clears its timer. */
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
