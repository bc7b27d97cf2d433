// The requests that are being answered, from before they hold money on. A server that stops waits
// for them, and ends what is left when the time is up: each then settles like a stream that broke.

export type InFlight = {
  /** Registers a request; returns the function that takes it off again. */
  readonly enter: (abort: () => void) => () => void;
  readonly count: () => number;
  /** Ends everything that is in flight. What has not called an upstream yet must not any more. */
  readonly abortAll: () => void;
  readonly aborted: () => boolean;
  /** Resolves when nothing is in flight. */
  readonly idle: () => Promise<void>;
};

export function createInFlight(): InFlight {
  const aborts = new Set<() => void>();
  let waiting: (() => void)[] = [];
  let aborted = false;
  return {
    enter(abort) {
      // A wrapper of its own keeps two requests with the same function apart.
      const entry = (): void => abort();
      aborts.add(entry);
      return () => {
        aborts.delete(entry);
        if (aborts.size > 0) return;
        const resolved = waiting;
        waiting = [];
        for (const resolve of resolved) resolve();
      };
    },
    count: () => aborts.size,
    aborted: () => aborted,
    abortAll() {
      aborted = true;
      for (const abort of [...aborts]) abort();
    },
    idle() {
      if (aborts.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
