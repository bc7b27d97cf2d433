// The requests that are being answered, from before they hold money on. A server that stops waits
// for them, and ends what is left when the time is up: each then settles like a stream that broke.

export type InFlight = {
  /** Registers a request; returns the function that takes it off again. */
  readonly enter: (requestId: string, abort: () => void) => () => void;
  readonly count: () => number;
  /** Whether a request is in flight, which it is for as long as somebody will end what it holds. */
  readonly isLive: (requestId: string) => boolean;
  /** Ends everything that is in flight. What has not called an upstream yet must not any more. */
  readonly abortAll: () => void;
  readonly aborted: () => boolean;
  /** Resolves when nothing is in flight. */
  readonly idle: () => Promise<void>;
};

export function createInFlight(): InFlight {
  const aborts = new Map<string, () => void>();
  let waiting: (() => void)[] = [];
  let aborted = false;
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
    count: () => aborts.size,
    isLive: (requestId) => aborts.has(requestId),
    aborted: () => aborted,
    abortAll() {
      aborted = true;
      for (const abort of [...aborts.values()]) abort();
    },
    idle() {
      if (aborts.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

/** One request's time in flight, and what may end it early: its client, or a server that stops. */
export type Lifetime = {
  readonly isOver: () => boolean;
  /** Aborts this attempt, in place of the one before it, when the time is over. */
  readonly follow: (attempt: Stoppable) => void;
  /** To be called once the request has nothing left to write. */
  readonly end: () => void;
};

type Stoppable = { readonly abort: () => void };

/** `signal` fires when the client leaves. */
export function startLifetime(
  inFlight: InFlight,
  requestId: string,
  signal: AbortSignal,
): Lifetime {
  let current: Stoppable | undefined;
  const stop = (): void => current?.abort();
  const leave = inFlight.enter(requestId, stop);
  signal.addEventListener('abort', stop);
  const isOver = (): boolean => signal.aborted || inFlight.aborted();
  return {
    isOver,
    follow(attempt) {
      current = attempt;
      if (isOver()) attempt.abort();
    },
    end() {
      signal.removeEventListener('abort', stop);
      leave();
    },
  };
}
