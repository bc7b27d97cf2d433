// One request in the list of an account's requests, and what the list can be filtered by.

type RequestOutcomeRecord = 'completed' | 'stopped_balance' | 'client_cancelled' | 'failed';

export type RequestRecord = {
  readonly id: string;
  readonly object: 'request';
  readonly started_at: string;
  readonly duration_ms: number;
  readonly key_id: string;
  readonly format: 'chat' | 'messages';
  readonly stream: boolean;
  readonly model: string;
  /** Null where none answered; another one than `model` after a fallback. */
  readonly model_served: string | null;
  readonly outcome: RequestOutcomeRecord;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  /** In service tokens. */
  readonly debited: string;
  readonly debited_usd: string;
  readonly end_user: string | null;
};

export type RequestListRecord = {
  readonly object: 'list';
  readonly data: readonly RequestRecord[];
  /** The list goes on there, also where `data` has few rows or none: it was searched for long. */
  readonly next: string | null;
};

/** What there is to choose from. */
export type RequestFiltersRecord = {
  readonly models: readonly string[];
  readonly keys: readonly {
    readonly id: string;
    readonly name: string | null;
    readonly masked: string;
  }[];
};

/** Usage times one price, and the total rounded once. */
export type CalculationRecord = {
  readonly model: string;
  readonly used_for: 'requested' | 'served';
  readonly price_version: string;
  readonly buckets: readonly {
    readonly name: 'input' | 'cached_input' | 'cache_write' | 'output';
    readonly tokens: number;
    readonly price: string;
    readonly amount: string;
  }[];
  readonly exact: string;
  readonly rounded: string;
};

/** All that a customer is told of one request. Amounts are service tokens. */
export type RequestStoryRecord = {
  readonly request_id: string;
  readonly key_id: string;
  readonly model: { readonly requested: string; readonly served: string | null };
  readonly fallback_used: boolean;
  readonly attempts: number;
  readonly hold: {
    readonly phase: 'held' | 'dispatched' | 'settled' | 'released' | 'expired';
    readonly estimated_prompt_tokens: number;
    readonly output_bound: number;
    readonly first_amount: string;
    readonly grown_by: string;
    readonly amount: string;
    readonly price_version: string;
    readonly created_at: string;
    readonly dispatched_at: string | null;
    readonly ended_at: string | null;
  };
  /** Null while the request is under way, as are the next ones. */
  readonly request: {
    readonly format: 'chat' | 'messages';
    readonly stream: boolean;
    readonly outcome: string;
    readonly end_user: string | null;
    readonly started_at: string;
    readonly ended_at: string;
    readonly first_content_ms: number | null;
  } | null;
  readonly usage: {
    readonly basis: 'reported' | 'estimated' | 'recovered';
    readonly input_tokens: number;
    readonly cached_input_tokens: number;
    readonly cache_write_tokens: number;
    readonly output_tokens: number;
    readonly reasoning_tokens: number;
    readonly doubt: 'malformed' | 'inconsistent' | 'implausible' | 'zero' | null;
  } | null;
  readonly calculations: readonly CalculationRecord[];
  readonly booked: {
    readonly charged: string;
    readonly debited: string;
    readonly debited_usd: string;
    readonly waived: string;
    readonly balance_after: string | null;
  } | null;
  readonly receipt: { readonly sequence: number; readonly hash: string } | null;
};
