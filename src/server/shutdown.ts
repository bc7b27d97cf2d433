// How a running server ends: on a signal, after what is under way has finished or has been ended.
// Called by serve. It closes no database: whoever opened it does, once this is done.

import { withTimeout } from '../async/timeout.ts';
import type { InFlight } from '../generate/in-flight.ts';
import type { GatewayServer } from '../http/server.ts';
import type { Log } from '../observe/log.ts';

/** For what was ended to settle; only a request whose body never arrives needs longer. */
const END_GRACE_MS = 4_000;

/** For the last bytes to leave after the last answer was written. */
const CLOSE_GRACE_MS = 500;

export type StopSignals = {
  /** The next SIGTERM or SIGINT from now on. */
  readonly next: () => Promise<NodeJS.Signals>;
};

/**
 * From now on, neither signal ends the process by itself. What comes while nobody waits for the next
 * one is ignored: who started the server may have told it twice.
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
 * Running requests get the drain time to finish; what is left then is ended like a stream that
 * broke, which settles it. `hurry`, a second signal, ends the wait at once.
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
  // Connections that a client keeps open without a request would hold the process for ever.
  await server.close();
}
