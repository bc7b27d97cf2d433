// Long reads in pieces: whoever reads much asks here between two pieces, and lets everybody else go
// first whenever the event loop was kept for too long. However many read at once, one of them has a
// piece in each turn of the event loop: together they keep it no longer than one alone.

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

/** Who waits for a turn, first come, first served. There is one event loop, and one queue for it. */
const waiting: (() => void)[] = [];
let isTurnComing = false;

/** Resolves in a turn of the event loop that nobody else of those who wait here has. */
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
