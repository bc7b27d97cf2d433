// Accounts as operators see them: in lists, one with everything about it, and what is done to it.

import type { ListedRequest } from '../../ledger/request-list.ts';
import type { accountRecord } from '../../operations/account-records.ts';
import type { blockSummary } from '../../operations/blocks.ts';
import type { explanation } from '../../operations/explanation.ts';
import type { findKey } from '../../operations/keys.ts';
import type { movedRecord, movementRecord } from '../../operations/movements.ts';
import type { LimitUsageRecord } from './account.ts';

export type OperatorAccountRecord = ReturnType<typeof accountRecord>;

export type StandingRecord = OperatorAccountRecord['standing'];

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
  readonly block: ReturnType<typeof blockSummary>;
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
export type MovementRecord = ReturnType<typeof movementRecord>;

export type MovedRecord = ReturnType<typeof movedRecord> & {
  readonly account: OperatorAccountRecord;
};

/** A request of the account, in one line. */
export type AccountRequestRecord = {
  readonly request_id: string;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly model_requested: string;
  readonly model_served: string | null;
  readonly outcome: ListedRequest['outcome'];
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly debited: string;
};

/** A key that was looked for, with whose it is. */
export type FoundKeyRecord = Awaited<ReturnType<typeof findKey>>;

/** One request with everything that the books know of it, upstreams and costs included. */
export type OperatorRequestRecord = ReturnType<typeof explanation>;
