// The requests that are being answered, from before they hold money on. A server that stops waits
// for them, and ends what is left when the time is up: each then settles like a stream that broke.
// What a client has left is a request in flight too, for as long as its upstream is read to its end.

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
   * Counts an answer that its client has left and that is read to its end. Returns the function that
   * says that it is over; undefined where `most` of the account are read already.
   */
  readonly drain: (accountId: string, most: number) => (() => void) | undefined;
};

export function createInFlight(): InFlight {
  const aborts = new Map<string, () => void>();
  let waiting: (() => void)[] = [];
  let aborted = false;
  const drains = new Map<string, number>();
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
    drain(accountId, most) {
      const count = drains.get(accountId) ?? 0;
      if (count >= most) return undefined;
      drains.set(accountId, count + 1);
      return () => {
        const left = (drains.get(accountId) ?? 0) - 1;
        if (left > 0) drains.set(accountId, left);
        else drains.delete(accountId);
      };
    },
  };
}
