// The customer's start page, and the part updated by the live feed.

import type { openRecord, spendRecord } from '../customer/spend-records.ts';
import type { LimitUsageRecord, OwnAccountRecord } from './account.ts';
import type { ConnectionRecord, KeyRecord } from './key.ts';

export type SpendRecord = ReturnType<typeof spendRecord>;

/** A UTC day, such as 2026-11-21. */
export type SpendDayRecord = SpendRecord & { readonly day: string };

/** The live part. */
export type LiveRecord = {
  readonly balance: OwnAccountRecord['balance'];
  readonly usage: LimitUsageRecord;
  readonly today: SpendRecord;
  /** The newest requests with an open hold. */
  readonly open_requests: readonly ReturnType<typeof openRecord>[];
};

export type NoticeRecord =
  | { readonly kind: 'inactive'; readonly standing: 'suspended' | 'pending_deletion' }
  | { readonly kind: 'maintenance'; readonly message: string | null }
  /** `mail_in_log`: without a mail server, the link is in the server log. */
  | { readonly kind: 'email_unverified'; readonly mail_in_log: boolean }
  | { readonly kind: 'balance_empty' }
  | { readonly kind: 'balance_low'; readonly lasts_days: number }
  | {
      readonly kind: 'keys_expiring';
      readonly keys: readonly (Pick<KeyRecord, 'id' | 'name' | 'masked'> & {
        readonly expires_at: string;
      })[];
    }
  /** Paused by the runaway guard. */
  | {
      readonly kind: 'keys_paused';
      readonly keys: readonly (Pick<KeyRecord, 'id' | 'name' | 'masked'> & {
        readonly paused_at: string;
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
  /** The last 30 UTC days, today last, including days without requests. */
  readonly days: readonly SpendDayRecord[];
  /** Days the balance lasts at the 7-day average spend; null without spend. */
  readonly lasts_days: number | null;
  readonly first_steps: {
    readonly has_key: boolean;
    readonly has_balance: boolean;
    readonly has_request: boolean;
  };
  readonly connection: ConnectionRecord;
  readonly notices: readonly NoticeRecord[];
};
