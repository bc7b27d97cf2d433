// The settings, clocks and sinks that every part of a server shares. `compose.ts` makes it.

import type { Config } from '../config/settings.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Deployment } from './deployment.ts';
import type { Observation } from './observation.ts';

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
  readonly randomBytes: RandomBytes;
  readonly observation: Omit<Observation, 'raised' | 'close'>;
};
