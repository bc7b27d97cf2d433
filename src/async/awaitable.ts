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
 * All of the answers, or the first failure once every one of them has come to an end: what is undone
 * after a failure must not go on behind it. At once where they are all there already.
 */
export function together<T extends readonly unknown[]>(
  works: readonly [...T],
): Awaitable<Answers<T>> {
  if (works.some((work) => work instanceof Promise)) return whenAll(works);
  return works as Answers<T>;
}

type Answers<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> };

async function whenAll<T extends readonly unknown[]>(works: readonly [...T]): Promise<Answers<T>> {
  try {
    return await Promise.all(works);
  } catch (cause) {
    await Promise.allSettled(works);
    throw cause;
  }
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
