// What operators have set, as requests read it: one frozen value, replaced as a whole from one
// state of the database and the live catalog.

import { readDisabled } from '../catalog/disabled.ts';
import { readIncidents } from '../catalog/incidents.ts';
import type { Catalog } from '../core/model.ts';
import type { ServiceState } from '../core/service-state.ts';
import { readBlocklist } from '../identity/blocks.ts';
import { readMaintenance } from '../identity/settings.ts';
import type { Database } from '../store/contract.ts';

export type ServiceStateHolder = {
  readonly current: () => ServiceState;
  /** When it next changes by itself, because a block ends (Unix milliseconds). */
  readonly changesAt: () => number;
  /** Replaces it by the current state. Throws where that cannot be read, and keeps the old one. */
  readonly refresh: () => Promise<void>;
};

export async function createServiceState(dependencies: {
  readonly database: Database;
  readonly catalog: () => Catalog;
  /** Unix milliseconds. */
  readonly clock: () => number;
}): Promise<ServiceStateHolder> {
  const { database, catalog, clock } = dependencies;
  let held = await read();

  async function read(): Promise<{ readonly state: ServiceState; readonly changesAt: number }> {
    return database.snapshot(async () => {
      const { blocklist, changesAt } = await readBlocklist(database, clock());
      const state = {
        catalog: catalog(),
        incidentOf: await readIncidents(database),
        isDisabled: await readDisabled(database),
        blocklist,
        maintenance: await readMaintenance(database),
      };
      return { state: Object.freeze(state), changesAt };
    });
  }

  return {
    current: () => held.state,
    changesAt: () => held.changesAt,
    async refresh() {
      held = await read();
    },
  };
}
