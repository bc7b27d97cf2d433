// Yields the event loop to other tasks. Long reads call `createPause` between pieces: it yields
// once they have used the loop for too long. Concurrent reads share one queue that runs one piece
// per turn of the loop, so together they block it no longer than one alone.

/** Resolves in the next turn of the event loop, after pending I/O. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The longest time to block the event loop. */
const KEPT_MS_MAX = 4;

export type Pause = () => Promise<void> | undefined;

/** One per read. `monotonic` returns milliseconds of a monotonic clock. */
export function createPause(monotonic = () => performance.now()): Pause {
  let since = monotonic();
  return () => {
    if (monotonic() - since < KEPT_MS_MAX) return undefined;
    return nextTurn().then(() => {
      since = monotonic();
    });
  };
}

/** First come, first served. One queue, because there is one event loop. */
const waiting: (() => void)[] = [];
let isTurnComing = false;

/** Resolves in a turn of the event loop that no other caller of this function shares. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    comeToTurn();
  });
}

function comeToTurn(): void {
  if (isTurnComing) return;
  isTurnComing = true;
  setImmediate(() => {
    isTurnComing = false;
    waiting.shift()?.();
    if (waiting.length > 0) comeToTurn();
  });
}
