// What the console shows of what is sold: models, prices, the catalog, money over all accounts.

type RatesRecord = {
  readonly version: string;
  readonly input: string;
  readonly cached_input: string;
  readonly cache_write: string;
  readonly output: string;
  readonly svc_tokens: {
    readonly input: string;
    readonly cached_input: string;
    readonly cache_write: string;
    readonly output: string;
  };
};

export type CatalogWindowRecord = RatesRecord & {
  readonly from: string;
  readonly to: string;
  readonly days: readonly string[];
  readonly in_force: boolean;
};

export type PricePeriodRecord = RatesRecord & {
  /** Null: since ever. */
  readonly valid_from: string | null;
  readonly in_force: boolean;
  readonly windows: readonly CatalogWindowRecord[];
};

export type ModelPricesRecord = {
  readonly model: string;
  readonly version: string;
  readonly next_change_at: string | null;
  readonly prices: readonly PricePeriodRecord[];
};

export type PriceBookRecord = {
  readonly at: string;
  readonly models: readonly ModelPricesRecord[];
  readonly usd_per_million: string;
  readonly file: {
    readonly path: string | null;
    /** Of the file as it is now; what a draft is based on. Null where it cannot be read. */
    readonly digest: string | null;
    readonly in_force: boolean;
    /** Why prices cannot be published from here; null where they can. */
    readonly not_writable: string | null;
  };
};

type DraftRates = {
  readonly input: string | number;
  readonly cached_input?: string | number;
  readonly cache_write?: string | number;
  readonly output: string | number;
};

export type DraftPeriod = DraftRates & {
  readonly model: string;
  readonly valid_from: string;
  readonly windows?: readonly (DraftRates & {
    readonly from: string;
    readonly to: string;
    readonly days?: readonly ('sun' | 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat')[];
  })[];
};

export type Draft = {
  readonly add: readonly DraftPeriod[];
  readonly withdraw: readonly { readonly model: string; readonly valid_from: string }[];
};

/** `problems` is empty where the draft could be published. */
export type DraftCheckRecord = {
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** What the check was made on; publishing wants it back. */
  readonly based_on: string | null;
  /** The drafted prices in the words of the file, to be copied. */
  readonly snippet: string | null;
};

export type PreviewSumRecord = {
  readonly requests: number;
  readonly tokens: {
    readonly input: number;
    readonly cached_input: number;
    readonly cache_write: number;
    readonly output: number;
  };
  readonly booked: string;
  readonly would_be: string;
  readonly difference: string;
  readonly loss: string;
};

export type PreviewRecord = {
  readonly from: string;
  readonly to: string;
  readonly prices_at: string | null;
  readonly models: readonly (PreviewSumRecord & { readonly model: string })[];
  readonly totals: PreviewSumRecord;
  readonly not_priced: readonly {
    readonly model: string;
    readonly requests: number;
    readonly booked: string;
  }[];
};

export type PublishedRecord = {
  readonly path: string;
  readonly backup: string;
  readonly digest: string;
  /** Whether the server sells by it now; else `problems` say why not. */
  readonly in_force: boolean;
  readonly problems: readonly string[];
};

export type IncidentRecord = {
  readonly model: string;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  readonly reason: string;
  readonly updated_at: string;
};

export type OperatorModelRecord = {
  readonly id: string;
  readonly object: 'model';
  readonly display_name: string;
  readonly description: string;
  readonly aliases: readonly string[];
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly features: readonly string[];
  readonly plans: readonly string[];
  readonly fallbacks: readonly string[];
  readonly price: RatesRecord;
  readonly next_change_at: string | null;
  readonly incident: IncidentRecord | null;
  /** Lower limits that the catalog itself sets. */
  readonly has_catalog_limits: boolean;
  readonly placements: readonly {
    readonly upstream: string;
    readonly upstream_model: string;
    readonly weight: number;
    readonly breaker: 'closed' | 'open' | 'half_open';
    readonly disabled: boolean;
    readonly has_cost: boolean;
  }[];
  /** Whether a request for it can be answered now, by itself or by a fallback. */
  readonly state: 'healthy' | 'degraded' | 'down';
  readonly last_day: {
    readonly requests: number;
    readonly failed: number;
    readonly output_tokens: number;
    readonly spent: string;
    readonly spent_usd: string;
  };
};

/** Incidents of models that the catalog no longer has are in `forgotten`. */
export type OperatorModelsRecord = {
  readonly models: readonly OperatorModelRecord[];
  readonly forgotten: readonly IncidentRecord[];
};

export type CatalogRecord = {
  readonly version: number;
  readonly origin: 'file' | 'built-in';
  readonly path: string | null;
  readonly digest: string;
  /** Of what is there now; null where it cannot be read. */
  readonly digest_on_disk: string | null;
  readonly loaded_at: string;
  readonly models: number;
  readonly upstreams: number;
  readonly plans: readonly {
    readonly slug: string;
    readonly name: string;
    readonly accounts: number;
    readonly requests_per_minute: number;
    readonly tokens_per_minute: number;
    readonly concurrent_requests: number;
  }[];
  readonly warnings: readonly string[];
  readonly refused: { readonly at: string; readonly problems: readonly string[] } | null;
};

export type CatalogCheckRecord = {
  readonly ok: boolean;
  readonly digest: string | null;
  readonly problems: readonly string[];
};

export type MoneyFiguresRecord = {
  readonly requests: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly estimated_input_tokens: number;
  readonly output_tokens: number;
  readonly spent: string;
  readonly spent_usd: string;
  readonly cost: string;
  readonly cost_usd: string;
  readonly margin: string;
  readonly margin_usd: string;
  readonly loss: string;
  readonly loss_usd: string;
  /** Requests that are not in the margin, because a cost of theirs is not known. */
  readonly uncosted: number;
};

type HoldRecord = {
  readonly request_id: string;
  readonly account_id: string;
  readonly model: string;
  readonly phase: 'held' | 'dispatched';
  readonly amount: string;
  readonly created_at: string;
};

export type MoneyAccountRecord = {
  readonly account_id: string;
  readonly email: string;
  readonly amount: string;
  readonly amount_usd: string;
};

export type MoneyRecord = {
  readonly from: string;
  readonly to: string;
  readonly step: 'hour' | 'day';
  readonly balances: {
    readonly accounts: number;
    readonly posted: string;
    readonly posted_usd: string;
    readonly held: string;
    readonly held_usd: string;
  };
  readonly totals: MoneyFiguresRecord;
  readonly models: readonly (MoneyFiguresRecord & { readonly model: string })[];
  readonly series: readonly (MoneyFiguresRecord & { readonly at: string })[];
  readonly holds: { readonly open: number; readonly oldest: readonly HoldRecord[] };
  readonly largest_balances: readonly MoneyAccountRecord[];
  /** Requests that are not counted yet. */
  readonly behind: number;
};
