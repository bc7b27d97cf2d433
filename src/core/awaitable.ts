// A value that may still be under way. Functions that mostly know their answer at once say so with
// it, and spare whoever waits for nothing a turn of the event loop.

export type Awaitable<T> = T | Promise<T>;
