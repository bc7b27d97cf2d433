// The dependencies of operations: the domains over one database, and the live catalog. The command
// line makes them per command, the server once for its console. Types only.

import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import type { Store } from './store.ts';

export type OperationDependencies = Readonly<Omit<Store, 'settings' | 'incidents'>> & {
  /** May throw where the catalog is read on first use. */
  readonly catalog: () => Catalog;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
};
