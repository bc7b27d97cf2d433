// A value or the promise of one. Functions that mostly know their answer at once return it, which
// spares their callers a turn of the event loop.

export type Awaitable<T> = T | Promise<T>;

/** What `next` makes of a value, at once where the value is there already. */
export function andThen<T, Next>(
  value: Awaitable<T>,
  next: (value: T) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * One question at a time of each name: those who ask while it is under way wait for the same answer.
 * Undefined when the answer is there at once.
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
