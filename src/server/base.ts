// What every part of a server is built on. `compose.ts` makes it from the settings.

import type { Config } from '../config/settings.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Deployment } from './deployment.ts';
import type { Observation } from './observation.ts';

/** The settings of a server. */
export type ServingConfig = Config & {
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
