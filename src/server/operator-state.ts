// What operators have set, as requests read it: one frozen value, made anew as a whole out of one
// state of the database and the catalog that is in force. Made by the server alone.

import { readDisabled } from '../catalog/disabled.ts';
import { readIncidents } from '../catalog/incidents.ts';
import type { Catalog } from '../core/model.ts';
import type { OperatorState } from '../core/operator.ts';
import { readBlocklist } from '../identity/blocks.ts';
import { readMaintenance } from '../identity/settings.ts';
import type { Database } from '../store/contract.ts';

export type OperatorStateHolder = {
  readonly current: () => OperatorState;
  /** From when on (Unix milliseconds) it is another one without anybody's doing: a block ends. */
  readonly changesAt: () => number;
  /** Swaps it for what is set now. Where that cannot be read it throws, and the old one stays. */
  readonly refresh: () => Promise<void>;
};

export async function createOperatorState(dependencies: {
  readonly database: Database;
  readonly catalog: () => Catalog;
  /** Unix milliseconds. */
  readonly clock: () => number;
}): Promise<OperatorStateHolder> {
  const { database, catalog, clock } = dependencies;
  let held = await read();

  async function read(): Promise<{ readonly state: OperatorState; readonly changesAt: number }> {
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
