// The run-time state set by operators: catalog, incident limits, disabled upstreams, blocks,
// maintenance. It is one frozen value, swapped as a whole. A request keeps the one with which it
// began, so it never sees half of a change.

import type { Catalog } from './model.ts';
import type { IncidentLimits } from './plan.ts';

/** Blocked callers, at one moment. */
export type Blocklist = {
  readonly accountBlocked: (accountId: string) => boolean;
  readonly keyBlocked: (keyId: string) => boolean;
  /** Whether the client's network address has to be determined. */
  readonly blocksNetworks: boolean;
  readonly addressBlocked: (address: string) => boolean;
};

/** `message` replaces the standard text for callers. */
export type Maintenance = { readonly on: boolean; readonly message?: string };

export type ServiceState = {
  readonly catalog: Catalog;
  /** The operator's limits for a model's slug; `undefined` without an incident. */
  readonly incidentOf: (modelSlug: string) => IncidentLimits | undefined;
  /** Whether the operator has disabled an upstream, entirely or for this model's slug. */
  readonly isDisabled: (upstream: string, modelSlug: string) => boolean;
  readonly blocklist: Blocklist;
  readonly maintenance: Maintenance;
};
