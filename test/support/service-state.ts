// The operator's settings for tests that configure only a catalog.

import type { Catalog } from '../../src/core/model.ts';
import type { ServiceState } from '../../src/core/service-state.ts';

export function serviceState(
  catalog: Catalog,
  changes: Partial<Omit<ServiceState, 'catalog'>> = {},
): ServiceState {
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
