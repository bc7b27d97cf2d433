// What operators have set, as requests read it: one frozen value, made anew as a whole out of one
// state of the database and the catalog that is in force. Made by the server alone.

import { readDisabled } from '../catalog/disabled.ts';
import { readIncidents } from '../catalog/incidents.ts';
import type { Catalog } from '../core/model.ts';
import type { OperatorState } from '../core/operator.ts';
import { readBlocklist } from '../identity/blocks.ts';
import { readMaintenance } from '../identity/settings.ts';
import type { Database } from '../store/database.ts';

export type OperatorStateHolder = {
  readonly current: () => OperatorState;
  /** From when on (Unix milliseconds) it is another one without anybody's doing: a block ends. */
  readonly changesAt: () => number;
  /** Swaps it for what is set now. Where that cannot be read it throws, and the old one stays. */
  readonly refresh: () => void;
};

export function createOperatorState(dependencies: {
  readonly database: Database;
  readonly catalog: () => Catalog;
  /** Unix milliseconds. */
  readonly clock: () => number;
}): OperatorStateHolder {
  const { database, catalog, clock } = dependencies;
  let held = read();

  function read(): { readonly state: OperatorState; readonly changesAt: number } {
    return database.snapshot(() => {
      const { blocklist, changesAt } = readBlocklist(database, clock());
      const state = {
        catalog: catalog(),
        incidentOf: readIncidents(database),
        isDisabled: readDisabled(database),
        blocklist,
        maintenance: readMaintenance(database),
      };
      return { state: Object.freeze(state), changesAt };
    });
  }

  return {
    current: () => held.state,
    changesAt: () => held.changesAt,
    refresh() {
      held = read();
    },
  };
}
