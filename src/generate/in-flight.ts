// The requests that are being answered, from before they hold money on. A server that stops waits
// for them, and ends what is left when the time is up: each then settles like a stream that broke.
// What a client has left is a request in flight too, for as long as its upstream is read to its end.

/** A request, as a server that stops knows it. */
type Stoppable = { readonly stop: () => void };

export type InFlight = ReturnType<typeof createInFlight>;

export function createInFlight() {
  const requests = new Map<string, Stoppable>();
  let waiting: (() => void)[] = [];
  let aborted = false;
  const drains = new Map<string, number>();
  return {
    /** Registers a request, which has to `exit`. */
    enter: (requestId: string, request: Stoppable): void => void requests.set(requestId, request),
    exit(requestId: string): void {
      requests.delete(requestId);
      if (requests.size > 0 || waiting.length === 0) return;
      const resolved = waiting;
      waiting = [];
      for (const resolve of resolved) resolve();
    },
    /** Whether somebody is left who will end this request's hold and claim. */
    isLive: (requestId: string): boolean => requests.has(requestId),
    /** The ids of all of them. */
    live: (): string[] => [...requests.keys()],
    count: (): number => requests.size,
    aborted: (): boolean => aborted,
    /** Ends everything that is in flight. What has not called an upstream yet must not any more. */
    abortAll(): void {
      aborted = true;
      for (const request of [...requests.values()]) request.stop();
    },
    /** Resolves when nothing is in flight. */
    idle(): Promise<void> {
      if (requests.size === 0) return Promise.resolve();
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
