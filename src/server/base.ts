// What every part of a thread that serves is built on. The main thread makes it from the settings, a
// server thread from what the main thread posts.

import { availableParallelism } from 'node:os';
import type { Config } from '../config/settings.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Deployment } from './deployment.ts';
import type { Observation } from './observation.ts';

/** The settings of a server, with its threads counted. */
export type ServingConfig = Config & {
  readonly workers: number;
  /** Whether an empty database is to be made although there was one. */
  readonly isNew?: boolean;
};

export type Base = {
  readonly config: ServingConfig;
  readonly deployment: Deployment;
  /** Unix milliseconds, of the database where it has its own time. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly randomBytes: RandomBytes;
  readonly observation: Pick<Observation, 'log' | 'alert' | 'request'>;
};

/** How many threads `WORKERS` asks for. */
export function workersOf({ workers }: Pick<Config, 'workers'>): number {
  return workers === 'auto' ? availableParallelism() : workers;
}
