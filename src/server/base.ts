// What all parts of a server share: settings, clocks, randomness, and the operators' log and alerts.

import { createDatabaseClock, type DatabaseClock } from '../cluster/clock.ts';
import type { Config } from '../config/settings.ts';
import type { RandomBytes } from '../core/id.ts';
import { type Deployment, deploymentOf } from './deployment.ts';
import { createObservation, type Observation } from './observation.ts';

/** The settings of a server. */
export type ServingConfig = Config & {
  /** Whether to create an empty database although there was one before. */
  readonly isNew?: boolean;
};

export type Base = {
  readonly config: ServingConfig;
  readonly deployment: Deployment;
  /** Unix milliseconds; the database's time where it has its own. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Reads the database's time. */
  readonly databaseClock: DatabaseClock;
  readonly randomBytes: RandomBytes;
  readonly observation: Observation;
};

/** `wall` is the machine's clock, in Unix milliseconds. */
export function createBase(wall: () => number, config: ServingConfig): Base {
  const deployment = deploymentOf(config.databaseUrl);
  // A request reads it ten times, and `performance.now` takes twice as long.
  const monotonic = (): number => Bun.nanoseconds() / 1_000_000;
  const databaseClock = createDatabaseClock({ wall, monotonic });
  const clock = deployment.clock({ machine: wall, database: databaseClock.now });
  const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));
  const observation = createObservation({ config, clock, monotonic });
  for (const warning of deployment.warnings(config)) observation.log.warn(warning);
  return { config, deployment, clock, monotonic, databaseClock, randomBytes, observation };
}
