// The settings as a server has them: with what depends on its machine filled in. Made by serve.

import { availableParallelism } from 'node:os';
import type { Config } from '../config/settings.ts';

/** The settings of a server, with its threads counted. */
export type ServingConfig = Config & {
  readonly workers: number;
  /** Whether an empty database is to be made although there was one. */
  readonly isNew?: boolean;
};

/** How many threads `WORKERS` asks for. */
export function workersOf({ workers }: Pick<Config, 'workers'>): number {
  return workers === 'auto' ? availableParallelism() : workers;
}
