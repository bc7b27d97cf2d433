// Waits for a promise, but no longer than that. Used where a request waits for its upstream's first
// word, and where a server that stops waits for its requests.

/** What the promise resolves to, or `undefined` when the time is up; leaves no timer behind. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
