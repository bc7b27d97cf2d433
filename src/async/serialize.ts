// A mutex: runs tasks one after the other, in the order of the calls.

import type { Awaitable } from './awaitable.ts';

export type Serialize = <T>(task: () => Awaitable<T>) => Promise<T>;

/** A task that fails rejects its own promise and holds up no other. Tasks must not nest. */
export function createSerialize(): Serialize {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const done = last.then(task);
    last = done.catch(() => undefined);
    return done;
  };
}
