// A value or a promise of one. Functions that usually have their result immediately return it
// directly, which saves callers a turn of the event loop.

export type Awaitable<T> = T | Promise<T>;

/** Applies `next` to a value, synchronously if the value is available. */
export function andThen<T, Next>(
  value: Awaitable<T>,
  next: (value: T) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Allows one call at a time per name: concurrent callers share its result. Undefined if the result
 * is available immediately.
 */
export function createSingleFlight() {
  const asking = new Map<string, Promise<void>>();
  return <T>(name: string, ask: () => Awaitable<T>, know: (answer: T) => void) => {
    const asked = asking.get(name);
    if (asked !== undefined) return asked;
    const answer = ask();
    if (!(answer instanceof Promise)) {
      know(answer);
      return undefined;
    }
    const known = answer.then(know).finally(() => asking.delete(name));
    asking.set(name, known);
    return known;
  };
}
