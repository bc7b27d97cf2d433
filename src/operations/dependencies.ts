// What operations work with: the domains over one database, and the catalog that is in force. The
// command line makes them for each command, the server once for its console. Types alone.

import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import type { Store } from './store.ts';

export type OperationDependencies = Readonly<Omit<Store, 'settings' | 'incidents'>> & {
  /** May throw where the catalog is read when it is first asked for. */
  readonly catalog: () => Catalog;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
};
