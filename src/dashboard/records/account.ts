// An account as its own keys see it in /v1/account, and as its owner does on the dashboard.

export type BalanceRecord = {
  readonly available: string;
  readonly reserved: string;
  readonly total: string;
  readonly available_usd: string;
  readonly unit: 'svc_token';
};

type WindowRecord = {
  readonly used: number;
  readonly remaining: number | null;
  readonly resets_in_s: number;
};

export type CapRecord = {
  readonly tokens: number;
  /** Null where the plan has no such cap. */
  readonly remaining: number | null;
  readonly resets_at: string;
};

export type LimitUsageRecord = {
  readonly requests_this_minute: WindowRecord;
  readonly tokens_this_minute: WindowRecord;
  readonly in_flight: number;
  readonly today: CapRecord;
  readonly month: CapRecord;
};

type ModelLimitRecord = {
  readonly model: string;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  readonly reason: string;
  readonly until: string | null;
};

type AccountRecord = {
  readonly id: string;
  readonly object: 'account';
  readonly email_verified: boolean;
  readonly standing: 'active' | 'suspended' | 'pending_deletion';
  readonly plan: { readonly slug: string; readonly name: string; readonly since: string };
  readonly balance: BalanceRecord;
  readonly limits: {
    readonly requests_per_minute: number;
    readonly tokens_per_minute: number;
    readonly concurrent_requests: number;
    readonly max_context_tokens: number;
    readonly max_active_api_keys: number;
    readonly daily_tokens: number | null;
    readonly monthly_tokens: number | null;
  };
  readonly usage: LimitUsageRecord;
  readonly model_limits: readonly ModelLimitRecord[];
  readonly api_keys: { readonly active: number; readonly limit: number };
};

/** On the dashboard, where no API key reaches, the e-mail address is in it too. */
export type OwnAccountRecord = AccountRecord & {
  readonly email: string;
  readonly created_at: string;
};
