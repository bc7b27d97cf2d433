// Measures how late the event loop is: the delay of a timer that is due every tenth of a second.
// Blocking code shows up in it.

import { every } from '../async/every.ts';

const EVERY_MS = 100;

/** `observe` takes seconds. Returns a function that stops it. */
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
