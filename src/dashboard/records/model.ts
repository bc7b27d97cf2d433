// A model as /v1/models lists it, and what the dashboard says beyond that.

type RatesRecord = {
  readonly input: string;
  readonly cached_input: string;
  readonly cache_write: string;
  readonly output: string;
};

type PricedRecord = RatesRecord & { readonly version: string; readonly svc_tokens: RatesRecord };

export type PriceWindowRecord = PricedRecord & {
  /** Time of day in UTC, such as 16:30. */
  readonly from: string;
  readonly to: string;
  readonly days: readonly string[];
};

type PricePeriodRecord = PricedRecord & {
  readonly valid_from: string | null;
  readonly windows: readonly PriceWindowRecord[];
};

export type PricingRecord = PricedRecord & {
  readonly currency: 'USD';
  readonly unit: '1M_tokens';
  readonly next_change_at: string | null;
  readonly schedule: readonly PricePeriodRecord[];
};

export type ModelRecord = {
  readonly id: string;
  readonly display_name: string;
  readonly description: string;
  readonly aliases: readonly string[];
  readonly context_window: number;
  readonly effective_context: number;
  readonly max_output_tokens: number;
  readonly features: {
    readonly tools: boolean;
    readonly json_mode: boolean;
    readonly vision: boolean;
    readonly reasoning: boolean;
    readonly streaming: boolean;
    readonly prompt_cache: boolean;
  };
  readonly pricing: PricingRecord;
  readonly available: boolean;
  readonly plans: readonly string[];
  readonly status: 'active' | 'degraded';
  /** Incident limits in force. */
  readonly limits: LimitsRecord<number | null> | null;
};

type LimitsRecord<Limit> = {
  readonly requests_per_minute: Limit;
  readonly tokens_per_minute: Limit;
  readonly concurrent_requests: Limit;
};

export type CustomerModelRecord = ModelRecord & {
  /** The lower of plan and incident, member by member. */
  readonly effective_limits: LimitsRecord<number>;
};

type PlanNameRecord = { readonly slug: string; readonly name: string };

export type ModelListRecord = {
  readonly object: 'list';
  readonly data: readonly CustomerModelRecord[];
  /** The plan of the account. */
  readonly plan: PlanNameRecord;
  readonly plans: readonly PlanNameRecord[];
};
