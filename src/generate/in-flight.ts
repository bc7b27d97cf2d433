// The requests that are being answered, from before they hold money on. A server that stops waits
// for them, and ends what is left when the time is up: each then settles like a stream that broke.
// What a client has left is a request in flight too, for as long as its upstream is read to its end.

export type InFlight = ReturnType<typeof createInFlight>;

export function createInFlight() {
  const aborts = new Map<string, () => void>();
  let waiting: (() => void)[] = [];
  let aborted = false;
  const drains = new Map<string, number>();
  return {
    /** Registers a request; returns the function that takes it off again. */
    enter(requestId: string, abort: () => void): () => void {
      aborts.set(requestId, abort);
      return () => {
        aborts.delete(requestId);
        if (aborts.size > 0) return;
        const resolved = waiting;
        waiting = [];
        for (const resolve of resolved) resolve();
      };
    },
    /** Whether somebody is left who will end this request's hold and claim. */
    isLive: (requestId: string): boolean => aborts.has(requestId),
    /** The ids of all of them. */
    live: (): string[] => [...aborts.keys()],
    count: (): number => aborts.size,
    aborted: (): boolean => aborted,
    /** Ends everything that is in flight. What has not called an upstream yet must not any more. */
    abortAll(): void {
      aborted = true;
      for (const abort of [...aborts.values()]) abort();
    },
    /** Resolves when nothing is in flight. */
    idle(): Promise<void> {
      if (aborts.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    /**
     * Counts an answer that its client has left and that is read to its end. Returns the function that
     * says that it is over; undefined where `most` of the account are read already.
     */
    drain(accountId: string, most: number): (() => void) | undefined {
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
