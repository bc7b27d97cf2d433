// The first page of a customer, in one answer, and the part of it that the live feed moves.

import type { LimitUsageRecord, OwnAccountRecord } from './account.ts';
import type { ConnectionRecord, KeyRecord } from './key.ts';

export type SpendRecord = {
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly spent: string;
  readonly spent_usd: string;
};

/** A UTC day, such as 2026-11-21. */
export type SpendDayRecord = SpendRecord & { readonly day: string };

export type OpenRequestRecord = {
  readonly request_id: string;
  readonly model: string;
  readonly key_id: string;
  readonly format: 'chat' | 'messages';
  readonly stream: boolean;
  readonly started_at: string;
  readonly reserved: string;
};

/** What changes while somebody looks. */
export type LiveRecord = {
  readonly balance: OwnAccountRecord['balance'];
  readonly usage: LimitUsageRecord;
  readonly today: SpendRecord;
  /** The newest of the requests that hold money now. */
  readonly open_requests: readonly OpenRequestRecord[];
};

export type NoticeRecord =
  | { readonly kind: 'inactive'; readonly standing: 'suspended' | 'pending_deletion' }
  | { readonly kind: 'maintenance'; readonly message: string | null }
  /** `mail_in_log`: the server sends no mail, its operator finds the link in the log. */
  | { readonly kind: 'email_unverified'; readonly mail_in_log: boolean }
  | { readonly kind: 'balance_empty' }
  | { readonly kind: 'balance_low'; readonly lasts_days: number }
  | {
      readonly kind: 'keys_expiring';
      readonly keys: readonly (Pick<KeyRecord, 'id' | 'name' | 'masked'> & {
        readonly expires_at: string;
      })[];
    }
  | { readonly kind: 'incident_limits'; readonly models: readonly string[] };

export type OverviewRecord = {
  readonly account: OwnAccountRecord;
  readonly live: LiveRecord;
  readonly spend: {
    readonly today: SpendRecord;
    readonly this_month: SpendRecord;
    readonly last_30_days: SpendRecord;
  };
  /** The last 30 UTC days, today last, those without a request included. */
  readonly days: readonly SpendDayRecord[];
  /** How many days the balance lasts at the pace of the last seven; null where nothing was spent. */
  readonly lasts_days: number | null;
  readonly first_steps: {
    readonly has_key: boolean;
    readonly has_balance: boolean;
    readonly has_request: boolean;
  };
  readonly connection: ConnectionRecord;
  readonly notices: readonly NoticeRecord[];
};
