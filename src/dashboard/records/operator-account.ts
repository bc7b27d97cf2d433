// Accounts for operators: lists, details, and the responses of actions.

import type { listedAccountRecord } from '../../operations/account-list.ts';
import type { accountRecord } from '../../operations/account-records.ts';
import type { blockSummary } from '../../operations/blocks.ts';
import type { findKey } from '../../operations/keys.ts';
import type { movedRecord, movementRecord } from '../../operations/movements.ts';
import type { LimitUsageRecord } from './account.ts';

export type OperatorAccountRecord = ReturnType<typeof accountRecord>;

/** In the list: with the usage of 30 days. */
export type ListedAccountRecord = ReturnType<typeof listedAccountRecord>;

export type StandingRecord = OperatorAccountRecord['standing'];

type PlanLimitsRecord = {
  readonly requests_per_minute: number;
  readonly tokens_per_minute: number;
  readonly concurrent_requests: number;
  readonly daily_tokens: number | null;
  readonly monthly_tokens: number | null;
};

export type AccountDetailRecord = OperatorAccountRecord & {
  /** Null if the plan is missing in the catalog: requests are rejected until it is restored. */
  readonly limits: PlanLimitsRecord | null;
  readonly usage: LimitUsageRecord | null;
  /** Null if not blocked. */
  readonly block: ReturnType<typeof blockSummary>;
  /** The owner's sign-in; null if no user has signed up with the address. */
  readonly owner: { readonly two_factor: boolean; readonly signed_up_at: string } | null;
  /** When the owner requested deletion and when it becomes final; null without a request. */
  readonly deletion: { readonly asked_at: string; readonly due_at: string } | null;
};

/** The only response that contains the key. */
export type CreatedAccountRecord = {
  readonly account: OperatorAccountRecord;
  readonly key: string;
};

/** The plans an account can change to. */
export type PlanRecord = { readonly slug: string; readonly name: string };

/** A ledger entry without a request. */
export type MovementRecord = ReturnType<typeof movementRecord>;

export type MovedRecord = ReturnType<typeof movedRecord> & {
  readonly account: OperatorAccountRecord;
};

/** A found key with its owner. */
export type FoundKeyRecord = Awaited<ReturnType<typeof findKey>>;
