// The dependencies of operations: the domains over one database, and the live catalog. The command
// line makes them per command, the server once for its console. Types only.

import type { Catalog } from '../core/model.ts';
import type { Basics } from '../identity/audit.ts';
import type { Store } from './store.ts';

export type OperationDependencies = Readonly<Omit<Store, 'settings' | 'incidents'>> &
  Basics & {
    /** May throw where the catalog is read on first use. */
    readonly catalog: () => Catalog;
  };
