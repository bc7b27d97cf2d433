// Accounts for operators: lists, details, and the responses of actions.

import { type Static, Type } from '@sinclair/typebox';
import type { movedRecord, movementRecord } from '../../operations/movements.ts';
import { balance, limitUsage } from './account.ts';
import { plainKey } from './key.ts';
import { approvalAnswer, OVER } from './operator-lists.ts';
import { count, decimal, instant, list, named, nullable, oneOf, text } from './schema.ts';

const standings = ['active', 'suspended', 'pending_deletion'] as const;

export const accountAnswer = named('Account', {
  id: Type.String({ pattern: '^acct_' }),
  object: Type.Literal('account'),
  email: text,
  email_verified: Type.Boolean(),
  /** A block hides any other standing. */
  standing: oneOf(...standings, 'blocked'),
  standing_without_block: oneOf(...standings),
  plan: Type.Object({ slug: text, name: text, since: instant }),
  balance,
  api_keys: Type.Object({ active: count, limit: count }),
  created_at: instant,
});

export type OperatorAccountRecord = Static<typeof accountAnswer>;

export type StandingRecord = OperatorAccountRecord['standing_without_block'];

/** In the list: with the usage of 30 days. */
const listedAccount = named('ListedAccount', {
  ...accountAnswer.properties,
  last_active_at: nullable(instant),
  last_30_days: Type.Object({
    requests: count,
    failed: count,
    spent: decimal,
    spent_usd: decimal,
    cost: decimal,
    cost_usd: decimal,
    margin: decimal,
    margin_usd: decimal,
    uncosted: count,
  }),
});

export type ListedAccountRecord = Static<typeof listedAccount>;

export const accountListAnswer = list('AccountList', listedAccount);

/** Null if not blocked. */
const block = nullable(Type.Object({ reason: text, expires_at: nullable(instant) }));

export const accountDetailAnswer = named('AccountDetail', {
  ...accountAnswer.properties,
  /** Null if the plan is missing in the catalog: requests are rejected until it is restored. */
  limits: nullable(
    Type.Object({
      requests_per_minute: count,
      tokens_per_minute: count,
      concurrent_requests: count,
      daily_tokens: nullable(count),
      monthly_tokens: nullable(count),
    }),
  ),
  usage: nullable(limitUsage),
  block,
  /** The owner's sign-in; null if no user has signed up with the address. */
  owner: nullable(Type.Object({ two_factor: Type.Boolean(), signed_up_at: instant })),
  /** When the owner requested deletion and when it becomes final; null without a request. */
  deletion: nullable(Type.Object({ asked_at: instant, due_at: instant })),
});

export type AccountDetailRecord = Static<typeof accountDetailAnswer>;

export const createdAccountAnswer = named('CreatedAccount', {
  account: accountAnswer,
  key: Type.String({ pattern: '^sk-', description: 'The first key, shown only here.' }),
});

export type CreatedAccountRecord = Static<typeof createdAccountAnswer>;

/** Usage by UTC day. */
export const dailyUsageAnswer = named('Usage', {
  object: Type.Literal('list'),
  account: text,
  data: Type.Array(
    Type.Object({
      day: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
      requests: count,
      input_tokens: count,
      output_tokens: count,
      debited: decimal,
      debited_usd: decimal,
    }),
  ),
});

const bookedCredit = named('BookedCredit', {
  id: text,
  object: Type.Literal('credit'),
  status: Type.Literal('booked'),
  account: text,
  kind: Type.Unsafe<MovementRecord['kind']>(oneOf('credit', 'grant')),
  amount: decimal,
  reason: text,
  booked_at: instant,
  /** Behind it, not of today. */
  balance: decimal,
});

const waitingCredit = named('WaitingCredit', {
  id: text,
  object: Type.Literal('credit'),
  status: oneOf('waiting_for_approval', ...OVER),
  approval: approvalAnswer,
});

export const creditAnswer = Type.Union([bookedCredit, waitingCredit], { $id: 'Credit' });

/** The plans an account can change to. */
export type PlanRecord = { readonly slug: string; readonly name: string };

/** A ledger entry without a request. */
export type MovementRecord = ReturnType<typeof movementRecord>;

export const movementListAnswer = list(
  'MovementList',
  named('Movement', {
    sequence: count,
    transfer_id: text,
    kind: Type.Unsafe<MovementRecord['kind']>(text),
    amount: decimal,
    at: instant,
    reason: Type.Unsafe<MovementRecord['reason']>(nullable(text)),
    /** Behind it. */
    balance: decimal,
  }),
);

export type MovedRecord = ReturnType<typeof movedRecord> & {
  readonly account: OperatorAccountRecord;
};

/** A found key with its owner. */
export const foundKeyAnswer = named('FoundApiKey', {
  key: plainKey,
  account: accountAnswer,
  block,
});

export type FoundKeyRecord = Static<typeof foundKeyAnswer>;
