// A model as listed by /v1/models, with additions for the dashboard.

import type { modelRecord } from '../../catalog/model-record.ts';

export type ModelRecord = ReturnType<typeof modelRecord>;

export type PricingRecord = ModelRecord['pricing'];

export type PriceWindowRecord = PricingRecord['schedule'][number]['windows'][number];

export type CustomerModelRecord = ModelRecord & {
  /** The lower of the plan's and the incident's limit, field by field. */
  readonly effective_limits: {
    readonly requests_per_minute: number;
    readonly tokens_per_minute: number;
    readonly concurrent_requests: number;
  };
};

/** A model that a key can be bound to. */
export type ModelNameRecord = { readonly slug: string; readonly name: string };

type PlanNameRecord = { readonly slug: string; readonly name: string };

export type ModelListRecord = {
  readonly object: 'list';
  readonly data: readonly CustomerModelRecord[];
  /** The plan of the account. */
  readonly plan: PlanNameRecord;
  readonly plans: readonly PlanNameRecord[];
};
