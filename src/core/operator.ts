// What operators have set while the server runs: catalog, incident limits, upstreams out of service,
// blocks, maintenance. It is one frozen value that is swapped as a whole, and a request keeps the one
// that it began with, so that none ever sees half of a change. Made by the server, read by the door
// and by the pipeline.

import type { Catalog } from './model.ts';
import type { IncidentLimits } from './plan.ts';

/** Who is refused, at one moment. */
export type Blocklist = {
  readonly accountBlocked: (accountId: string) => boolean;
  readonly keyBlocked: (keyId: string) => boolean;
  /** Whether it is worth finding out where a request came from. */
  readonly blocksNetworks: boolean;
  readonly addressBlocked: (address: string) => boolean;
};

/** `message` is what callers are told in place of the standard words. */
export type Maintenance = { readonly on: boolean; readonly message?: string };

export type OperatorState = {
  readonly catalog: Catalog;
  /** The limits that the operator has set for a model's slug; `undefined` without an incident. */
  readonly incidentOf: (modelSlug: string) => IncidentLimits | undefined;
  /** Whether the operator has taken an upstream out of service, wholly or for this model's slug. */
  readonly isDisabled: (upstream: string, modelSlug: string) => boolean;
  readonly blocklist: Blocklist;
  readonly maintenance: Maintenance;
};
