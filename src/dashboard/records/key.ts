// API keys as listed by /v1/api-keys, and the responses to creating and rotating one.

import type { KeyListState } from '../../identity/key-list.ts';
import type { keyRecord } from '../../identity/key-record.ts';
import type { BudgetRecord } from '../../operations/key-bounds.ts';
import type { createdKeyRecord, rotatedKeyRecord } from '../../operations/keys.ts';
import type { List } from '../edge/page.ts';
import type { ModelNameRecord } from './model.ts';

export type KeyRecord = ReturnType<typeof keyRecord>;

/** With its budget; null for a key without one. */
export type BoundKeyRecord = KeyRecord & { readonly budget: BudgetRecord | null };

/** The models on offer: of the plan for a customer, all for an operator. */
export type KeyModelsRecord = List<ModelNameRecord>;

/** Amounts of requests that started today and within 30 days, today included (UTC). */
export type ListedKeyRecord = BoundKeyRecord & {
  /** Where it was last used from; null if unknown. */
  readonly last_used_address: string | null;
  readonly spent_today: string;
  readonly spent_today_usd: string;
  readonly spent: string;
  readonly spent_usd: string;
};

export type KeyListRecord = List<ListedKeyRecord>;

export type KeySummaryRecord = {
  /** Of all keys of the account. `kept` are those that are not revoked. */
  readonly counts: Readonly<Record<KeyListState, number>>;
  readonly active_count: number;
  readonly active_limit: number;
  readonly creations: {
    readonly last_hour: number;
    readonly limit: number;
    /** When the next key can be created; null if now. */
    readonly next_at: string | null;
  };
};

/** The only response that contains the key. */
export type CreatedKeyRecord = ReturnType<typeof createdKeyRecord>;

export type RotatedKeyRecord = ReturnType<typeof rotatedKeyRecord>;

/** The connection settings for snippets. */
export type ConnectionRecord = {
  /** Without /v1. */
  readonly base_url: string;
  /** A model of the plan for examples; null if the plan has none. */
  readonly model: string | null;
  /** Whether that model reasons. */
  readonly reasoning: boolean;
};
