// The operator's settings for tests that configure only a catalog.

import type { Catalog } from '../../src/core/model.ts';
import type { OperatorState } from '../../src/core/operator.ts';

export function operatorState(
  catalog: Catalog,
  changes: Partial<Omit<OperatorState, 'catalog'>> = {},
): OperatorState {
  return {
    catalog,
    incidentOf: () => undefined,
    isDisabled: () => false,
    blocklist: {
      accountBlocked: () => false,
      keyBlocked: () => false,
      blocksNetworks: false,
      addressBlocked: () => false,
    },
    maintenance: { on: false },
    ...changes,
  };
}
