// How late the event loop is: a timer that should come every tenth of a second, and by how much it
// does not. Code that blocks the loop shows up in it.

import { every } from '../async/every.ts';

const EVERY_MS = 100;

/** `observe` takes seconds. Returns the function that stops it. */
export function watchLoopLag(
  monotonic: () => number,
  observe: (seconds: number) => void,
): () => void {
  let due = monotonic() + EVERY_MS;
  return every(EVERY_MS, () => {
    const now = monotonic();
    observe(Math.max(0, now - due) / 1_000);
    due = now + EVERY_MS;
  });
}
