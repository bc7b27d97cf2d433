// The requests that are being answered, from before they hold money on. A server that stops waits
// for them, and ends what is left when the time is up: each then settles like a stream that broke.
// What a client has left is a request in flight too, for as long as its upstream is read to its end.

/** Answers that nobody waits for and that are read to their end, in this process. */
const DRAINS_MAX = 64;

/** How long such an answer may take. */
const DRAIN_MS = 60_000;

export type InFlight = {
  /** Registers a request; returns the function that takes it off again. */
  readonly enter: (requestId: string, abort: () => void) => () => void;
  /** Whether somebody is left who will end this request's hold and claim. */
  readonly isLive: (requestId: string) => boolean;
  /** The ids of all of them. */
  readonly live: () => string[];
  readonly count: () => number;
  /** Ends everything that is in flight. What has not called an upstream yet must not any more. */
  readonly abortAll: () => void;
  readonly aborted: () => boolean;
  /** Resolves when nothing is in flight. */
  readonly idle: () => Promise<void>;
  /**
   * Lets an answer that its client has left be read to its end, for a bounded time; then `abort` is
   * called. Returns the function that says that it is over, or undefined where too many are.
   */
  readonly drain: (abort: () => void) => (() => void) | undefined;
};

export function createInFlight({ drainsMax = DRAINS_MAX, drainMs = DRAIN_MS } = {}): InFlight {
  const aborts = new Map<string, () => void>();
  let waiting: (() => void)[] = [];
  let aborted = false;
  let drains = 0;
  return {
    enter(requestId, abort) {
      aborts.set(requestId, abort);
      return () => {
        aborts.delete(requestId);
        if (aborts.size > 0) return;
        const resolved = waiting;
        waiting = [];
        for (const resolve of resolved) resolve();
      };
    },
    isLive: (requestId) => aborts.has(requestId),
    live: () => [...aborts.keys()],
    count: () => aborts.size,
    aborted: () => aborted,
    abortAll() {
      aborted = true;
      for (const abort of [...aborts.values()]) abort();
    },
    idle() {
      if (aborts.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    drain(abort) {
      if (aborted || drains >= drainsMax) return undefined;
      drains += 1;
      const timer = setTimeout(abort, drainMs);
      return () => {
        clearTimeout(timer);
        drains -= 1;
      };
    },
  };
}
