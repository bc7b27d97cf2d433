// Gives other tasks the event loop. Long reads ask `createPause` between two pieces: it yields once
// they have kept the loop for too long, and however many read at once, one of them runs a piece in
// each turn of the loop, so that together they keep it no longer than one alone.

/** Resolves in the next turn of the event loop, after the input and output that waits. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** For how long the event loop may be kept without a pause. */
const KEPT_MS_MAX = 4;

type Pause = () => Promise<void> | undefined;

/** One for each read. `monotonic` are milliseconds of a clock that never jumps. */
export function createPause(monotonic = () => performance.now()): Pause {
  let since = monotonic();
  return () => {
    if (monotonic() - since < KEPT_MS_MAX) return undefined;
    return nextTurn().then(() => {
      since = monotonic();
    });
  };
}

/** First come, first served. There is one event loop, and one queue for it. */
const waiting: (() => void)[] = [];
let isTurnComing = false;

/** Resolves in a turn of the event loop that no other caller of this function gets. */
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
