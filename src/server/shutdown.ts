// Ends a running server on a signal, after its requests have finished or were ended. The owner of
// each database closes it afterwards.

import { withTimeout } from '../async/timeout.ts';
import type { InFlight } from '../generate/in-flight.ts';
import type { GatewayServer } from '../http/server.ts';
import type { Log } from '../observe/log.ts';

/**
 * For ended requests to settle, and for clients to read what ended by then. A body that never arrives
 * and a client that does not read take all of it.
 */
const END_GRACE_MS = 4_000;

/** For the last bytes to leave after the last answer was written. */
const CLOSE_GRACE_MS = 500;

export type StopSignals = {
  /** The next SIGTERM or SIGINT after this call. */
  readonly next: () => Promise<NodeJS.Signals>;
};

/**
 * From now on, neither signal ends the process by itself. A signal that arrives between two calls
 * of `next` is ignored: a supervisor may send it twice.
 */
export function hearStopSignals(): StopSignals {
  const waiting: ((signal: NodeJS.Signals) => void)[] = [];
  const hear = (signal: NodeJS.Signals): void => {
    for (const resolve of waiting.splice(0)) resolve(signal);
  };
  process.on('SIGTERM', hear);
  process.on('SIGINT', hear);
  return { next: () => new Promise((resolve) => void waiting.push(resolve)) };
}

/**
 * Running requests get the drain time to finish; the rest is ended like a broken stream, which
 * settles it. `hurry`, a second signal, ends the wait at once.
 */
export async function drain(dependencies: {
  readonly server: GatewayServer;
  readonly inFlight: Pick<InFlight, 'count' | 'abortAll' | 'idle'>;
  readonly log: Pick<Log, 'warn'>;
  readonly drainMs: number;
  readonly hurry: Promise<unknown>;
}): Promise<void> {
  const { server, inFlight, log, drainMs, hurry } = dependencies;
  const stopped = server.stop();
  const idle = inFlight.idle().then(() => true);
  const again = hurry.then(() => false);
  if ((await withTimeout(drainMs, Promise.race([idle, again]))) !== true) {
    log.warn(`ending ${inFlight.count()} requests that are still running`);
    inFlight.abortAll();
    await withTimeout(END_GRACE_MS, idle);
  }
  await withTimeout(CLOSE_GRACE_MS, stopped);
  // Idle connections that a client keeps open would keep the process alive forever.
  await server.close();
}
