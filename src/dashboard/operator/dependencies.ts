// What the console's routes over people and money have in common: the parts of operations.

import type { OperationDependencies } from '../../operations/dependencies.ts';
import type { ConsoleDependencies } from '../dependencies.ts';

/** What of the server these routes need. */
export type PeopleDependencies = Pick<
  ConsoleDependencies,
  'store' | 'limits' | 'catalog' | 'clock' | 'randomBytes'
>;

export function partsOf({
  store,
  catalog,
  clock,
  randomBytes,
}: PeopleDependencies): OperationDependencies {
  return { ...store, catalog, clock, randomBytes };
}
