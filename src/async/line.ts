// Runs work that takes much memory or processor time: a few at once, others wait in a bounded line.
// Callers name a lane; lanes that wait take turns, so that many callers in one delay the others by
// about one piece of work.

export type Line = <T>(lane: string, work: () => Promise<T>) => Promise<T>;

export function createLine(options: {
  readonly atOnceMax: number;
  /** Of each lane. */
  readonly waitingMax: number;
  /** What a call rejects with where its lane is full. */
  readonly full: () => Error;
  /** Called when no work is left. */
  readonly onIdle?: () => void;
}): Line {
  const { atOnceMax, waitingMax, full, onIdle } = options;
  let running = 0;
  /** Only lanes in which a call waits; the first one is next. */
  const lanes = new Map<string, (() => void)[]>();

  function wait(lane: string): Promise<void> {
    if ((lanes.get(lane)?.length ?? 0) >= waitingMax) throw full();
    return new Promise((resolve) => lanes.getOrInsertComputed(lane, () => []).push(resolve));
  }

  /** The work that ended leaves its place to the next one. */
  function goOn(): void {
    const [next] = lanes;
    if (next === undefined) {
      running -= 1;
      if (running === 0) onIdle?.();
      return;
    }
    const [lane, waiting] = next;
    lanes.delete(lane);
    waiting.shift()?.();
    if (waiting.length > 0) lanes.set(lane, waiting);
  }

  return async (lane, work) => {
    if (running < atOnceMax) running += 1;
    else await wait(lane);
    try {
      return await work();
    } finally {
      goOn();
    }
  };
}
