// Accounts as operators see them: in lists, one with everything about it, and what is done to it.

import type { BalanceRecord, LimitUsageRecord } from './account.ts';
import type { KeyRecord } from './key.ts';

export type StandingRecord = 'active' | 'suspended' | 'pending_deletion';

export type OperatorAccountRecord = {
  readonly id: string;
  readonly object: 'account';
  readonly email: string;
  readonly email_verified: boolean;
  readonly standing: StandingRecord;
  /** On the blocklist: refused whatever the standing is. */
  readonly blocked: boolean;
  readonly plan: { readonly slug: string; readonly name: string; readonly since: string };
  readonly balance: BalanceRecord;
  readonly api_keys: { readonly active: number; readonly limit: number };
  readonly created_at: string;
};

/** Why somebody is refused, and until when; null: until it is taken back. */
type BlockSummaryRecord = { readonly reason: string; readonly expires_at: string | null };

type PlanLimitsRecord = {
  readonly requests_per_minute: number;
  readonly tokens_per_minute: number;
  readonly concurrent_requests: number;
  readonly daily_tokens: number | null;
  readonly monthly_tokens: number | null;
};

export type AccountDetailRecord = OperatorAccountRecord & {
  /** Null where the catalog has no such plan: its requests are refused until it has. */
  readonly limits: PlanLimitsRecord | null;
  readonly usage: LimitUsageRecord | null;
  /** Null where it is not blocked. */
  readonly block: BlockSummaryRecord | null;
  /** How its owner signs in; null where nobody has signed up with its address. */
  readonly owner: { readonly two_factor: boolean; readonly signed_up_at: string } | null;
  /** When its owner asked for its deletion, and when that is final; null where nobody has. */
  readonly deletion: { readonly asked_at: string; readonly due_at: string } | null;
};

/** The one answer that has the key itself. */
export type CreatedAccountRecord = {
  readonly account: OperatorAccountRecord;
  readonly key: string;
};

/** What an account can be put on. */
export type PlanRecord = { readonly slug: string; readonly name: string };

/** A movement that no request made. */
export type MovementRecord = {
  /** Its place among the receipts of the account. */
  readonly sequence: number;
  /** By which its receipt is shown. */
  readonly transfer_id: string;
  readonly kind: 'credit' | 'grant' | 'redemption' | 'adjustment';
  readonly amount: string;
  readonly at: string;
  readonly reason: string | null;
  /** What was posted after it. */
  readonly balance: string;
};

export type MovedRecord = {
  readonly id: string;
  readonly kind: 'credit' | 'grant' | 'adjustment';
  readonly amount: string;
  readonly reason: string;
  /** False where this movement was booked before, and nothing has changed now. */
  readonly applied: boolean;
  readonly account: OperatorAccountRecord;
};

/** A request of the account, in one line. */
export type AccountRequestRecord = {
  readonly request_id: string;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly model_requested: string;
  readonly model_served: string | null;
  readonly outcome:
    | 'completed'
    | 'stopped_balance'
    | 'client_cancelled'
    | 'upstream_failed'
    | 'gateway_failed';
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly debited: string;
};

/** A key that was looked for, with whose it is. */
export type FoundKeyRecord = {
  readonly key: KeyRecord;
  readonly account: OperatorAccountRecord;
  /** The block of the key; null where it is not blocked. */
  readonly block: BlockSummaryRecord | null;
};
