// A model as /v1/models lists it, and what the dashboard says beyond that.

import type { modelRecord } from '../../catalog/model-record.ts';

export type ModelRecord = ReturnType<typeof modelRecord>;

export type PricingRecord = ModelRecord['pricing'];

export type PriceWindowRecord = PricingRecord['schedule'][number]['windows'][number];

export type CustomerModelRecord = ModelRecord & {
  /** The lower of plan and incident, member by member. */
  readonly effective_limits: {
    readonly requests_per_minute: number;
    readonly tokens_per_minute: number;
    readonly concurrent_requests: number;
  };
};

type PlanNameRecord = { readonly slug: string; readonly name: string };

export type ModelListRecord = {
  readonly object: 'list';
  readonly data: readonly CustomerModelRecord[];
  /** The plan of the account. */
  readonly plan: PlanNameRecord;
  readonly plans: readonly PlanNameRecord[];
};
