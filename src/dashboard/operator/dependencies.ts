// Builds the arguments of operations from the console's dependencies and the acting operator.

import type { Actor, Change } from '../../identity/audit.ts';
import type { OperationDependencies } from '../../operations/dependencies.ts';
import type { ConsoleDependencies, MachineDependencies } from '../dependencies.ts';

/** The server dependencies of these routes. */
export type PeopleDependencies = Pick<
  ConsoleDependencies,
  'store' | 'topUps' | 'limits' | 'catalog' | 'fourEyesAbove' | 'clock' | 'randomBytes' | 'draining'
>;

export function partsOf({
  store,
  catalog,
  clock,
  randomBytes,
}: PeopleDependencies): OperationDependencies {
  return { ...store, catalog, clock, randomBytes };
}

export function changeOf(
  { store, clock, randomBytes }: Pick<MachineDependencies, 'store' | 'clock' | 'randomBytes'>,
  actor: Actor,
): Change {
  return { database: store.database, clock, randomBytes, actor };
}
