// The requests in progress, registered before they hold money. Shutdown waits for them and aborts
// the rest at its deadline; each of those settles like a broken stream. A request stays in flight
// after its client disconnected, for as long as its upstream is drained.

import { takeOff } from '../core/counts.ts';

/** A request, as shutdown sees it. */
type Stoppable = { readonly stop: () => void };

export type InFlight = ReturnType<typeof createInFlight>;

export function createInFlight() {
  const requests = new Map<string, Stoppable>();
  const waiting: (() => void)[] = [];
  let aborted = false;
  const drains = new Map<string, number>();

  return {
    /** Registers a request. Each `enter` needs an `exit`. */
    enter: (requestId: string, request: Stoppable): void => void requests.set(requestId, request),
    exit(requestId: string): void {
      requests.delete(requestId);
      if (requests.size > 0) return;
      for (const resolve of waiting.splice(0)) resolve();
    },
    /** Whether this process still runs the request and will end its hold and claim. */
    isLive: (requestId: string): boolean => requests.has(requestId),
    /** The ids of all requests in flight. */
    live: (): string[] => [...requests.keys()],
    count: (): number => requests.size,
    aborted: (): boolean => aborted,
    /**
     * Aborts all requests in flight. Those that have not called an upstream yet must not do so
     * afterwards.
     */
    abortAll(): void {
      aborted = true;
      for (const request of [...requests.values()]) request.stop();
    },
    /** Resolves when no request is in flight. */
    idle(): Promise<void> {
      if (requests.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    /**
     * Counts an answer that is drained without its client. Returns the function that ends the
     * count, or undefined if the account already has `most` of them.
     */
    drain(accountId: string, most: number): (() => void) | undefined {
      const count = drains.get(accountId) ?? 0;
      if (count >= most) return undefined;
      drains.set(accountId, count + 1);
      return () => takeOff(drains, accountId);
    },
  };
}
