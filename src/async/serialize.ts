// A mutex: runs tasks one at a time, in call order.

import type { Awaitable } from './awaitable.ts';

export type Serialize = <T>(task: () => Awaitable<T>) => Promise<T>;

/** A failed task rejects only its own promise. Tasks must not nest. */
export function createSerialize(): Serialize {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const done = last.then(task);
    last = done.catch(() => undefined);
    return done;
  };
}
