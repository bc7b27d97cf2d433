// API keys as /v1/api-keys lists them, and what creating and rotating one answers.

export type KeyRecord = {
  readonly id: string;
  readonly object: 'api_key';
  readonly name: string | null;
  readonly masked: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_reason:
    | 'user'
    | 'rotated'
    | 'operator'
    | 'leak_report'
    | 'account_closed'
    | null;
  readonly rotated_from: string | null;
  readonly replaced_by: string | null;
  readonly current: boolean;
};

export type KeyListRecord = {
  readonly object: 'list';
  /** Newest first, in every state. */
  readonly data: readonly KeyRecord[];
  /** What `after` has to be for the next page; null at the end. */
  readonly next: string | null;
  readonly active_count: number;
  readonly active_limit: number;
  readonly creations: {
    readonly last_hour: number;
    readonly limit: number;
    /** When the next key may be created; null where it may be now. */
    readonly next_at: string | null;
  };
};

/** The one answer that has the key itself. */
export type CreatedKeyRecord = KeyRecord & { readonly key: string };

export type RotatedKeyRecord = { readonly revoked: KeyRecord; readonly created: CreatedKeyRecord };

/** What a key is pasted into. */
export type ConnectionRecord = {
  /** Without /v1. */
  readonly base_url: string;
  /** A model of the plan, for examples; null where the plan has none. */
  readonly model: string | null;
};
