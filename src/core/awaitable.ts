// A value that may still be under way. Functions that mostly know their answer at once say so with
// it, and spare whoever waits for nothing a turn of the event loop.

export type Awaitable<T> = T | Promise<T>;

/** What `next` makes of a value, at once where the value is there already. */
export function andThen<T, Next>(value: Awaitable<T>, next: (value: T) => Next): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
