// What the console's routes hand to operations: the parts they work with, and who changes something.

import type { Actor } from '../../identity/audit.ts';
import type { Change } from '../../operations/audited-change.ts';
import type { OperationDependencies } from '../../operations/dependencies.ts';
import type { ConsoleDependencies, MachineDependencies } from '../dependencies.ts';

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

export function changeOf(
  { store, clock, randomBytes }: Pick<MachineDependencies, 'store' | 'clock' | 'randomBytes'>,
  actor: Actor,
): Change {
  return { database: store.database, clock, randomBytes, actor };
}
