// What each route of the operators' API means and answers. Methods, paths, scopes, bodies and queries
// are those of the route table: a route without a description does not compile.

import type { TSchema } from '@sinclair/typebox';
import type { OperationName } from '../../dashboard/operator-api/route.ts';
import {
  account,
  accountList,
  createdAccount,
  createdKey,
  credit,
  key,
  keyList,
  prices,
  usage,
} from './answers.ts';

type OperatorOperation = {
  readonly summary: string;
  readonly description: string;
  /** A sentence for each field of the body and the query. */
  readonly texts?: Readonly<Record<string, string>>;
  readonly answer: TSchema;
  /** Beside those that every route has. */
  readonly codes: readonly string[];
  readonly example?: object;
};

const PAGE_TEXTS = {
  limit: 'How many to list, at most 200. Default: 50.',
  after: 'The `next` of the previous page.',
};

const BOUNDS_TEXTS = {
  name: 'A name for people. Null removes it.',
  expires_at: 'When it expires, with a time zone. Null: never.',
  models: 'Slugs or aliases of the models that it may use. Null: every model of the plan.',
  networks: 'Addresses or networks in CIDR notation that may use it. Null: all of them.',
  budget: 'Service tokens that it may spend in total, per UTC day and per UTC month.',
  runaway_guard: 'Whether it is paused when its spend is far above its habit; by default true.',
};

const BOUNDS_CODES = ['invalid_key_name', 'invalid_expiry', 'invalid_models', 'invalid_networks'];

const ACTION = { answer: key, codes: ['key_not_found'] };

export const OPERATOR_OPERATIONS: Readonly<Record<OperationName, OperatorOperation>> = {
  list_accounts: {
    summary: 'List accounts',
    description: 'Lists accounts that match all filters, newest first.',
    texts: {
      ...PAGE_TEXTS,
      text: 'A part of the e-mail address, or the beginning of an id.',
      plan: 'The slug of a plan.',
      standing: 'A block hides any other standing.',
      verified: 'Whether the e-mail address is verified.',
    },
    answer: accountList,
    codes: [],
  },
  create_account: {
    summary: 'Create an account',
    description: 'Creates an account with its first key, which is in no other answer.',
    texts: {
      email: 'The e-mail address, which no other account has.',
      plan: 'The slug of a plan.',
      email_verified: 'Whether the address counts as verified. Default: false.',
    },
    answer: createdAccount,
    codes: ['invalid_email', 'email_taken', 'unknown_plan'],
    example: { email: 'eve@example.com', plan: 'pro', email_verified: true },
  },
  get_account: {
    summary: 'Get an account',
    description: 'Returns one account with its balance.',
    answer: account,
    codes: ['account_not_found'],
  },
  list_keys: {
    summary: 'List the keys of an account',
    description: 'Lists all keys of an account with their bounds, newest first.',
    texts: PAGE_TEXTS,
    answer: keyList,
    codes: ['account_not_found'],
  },
  create_key: {
    summary: 'Create a key',
    description: 'Creates a key, which is in no other answer.',
    texts: BOUNDS_TEXTS,
    answer: createdKey,
    codes: [
      ...['account_not_found', 'unknown_plan', 'key_limit_reached', 'key_creation_limit_reached'],
      ...[...BOUNDS_CODES, 'invalid_budget'],
    ],
    example: { name: 'ci', budget: { month: '5000000' } },
  },
  edit_key: {
    summary: 'Change a key',
    description: 'Changes the fields of the body. Null removes a bound; others stay as they are.',
    texts: BOUNDS_TEXTS,
    answer: key,
    codes: ['key_not_found', 'key_not_active', ...BOUNDS_CODES, 'invalid_budget'],
    example: { budget: { day: '100000' }, networks: null },
  },
  pause_key: {
    ...ACTION,
    summary: 'Pause a key',
    description: 'Rejects requests with this key until it is resumed here or in the console.',
    codes: ['key_not_found', 'key_not_active'],
  },
  resume_key: {
    ...ACTION,
    summary: 'Resume a key',
    description: 'Accepts requests with this key again.',
    codes: ['key_not_found', 'key_not_active'],
  },
  revoke_key: {
    ...ACTION,
    summary: 'Revoke a key',
    description: 'Ends this key at once and for good.',
  },
  create_credit: {
    summary: 'Credit an account',
    description:
      'Books a credit once by its id. A repeat gets the first answer. Above `FOUR_EYES_ABOVE` it waits for another operator than the one for whom the token acts.',
    texts: {
      id: 'Your own id of this credit, such as the number of an invoice.',
      kind: '`credit` is paid, `grant` is a gift. Default: `credit`.',
      amount: 'Service tokens, with at most 6 decimals.',
      reason: 'Kept in the books and on the receipt, 1 to 500 characters.',
    },
    answer: credit,
    codes: [
      ...['account_not_found', 'invalid_credit_id', 'invalid_amount', 'invalid_reason', 'conflict'],
      ...['ledger_refused', 'approval_conflict', 'too_many_approvals', 'token_without_owner'],
    ],
    example: { id: 'invoice-7', amount: '1000', reason: 'invoice 7' },
  },
  get_usage: {
    summary: 'Get the usage of an account',
    description: 'Returns usage per UTC day, at most 366 days.',
    texts: {
      from: 'The first day, such as 2026-11-01. Default: 30 days before `until`.',
      until: 'The day behind the last one. Default: tomorrow.',
    },
    answer: usage,
    codes: ['account_not_found'],
  },
  get_prices: {
    summary: 'Get all prices',
    description: 'Returns the prices of all models, also past and planned ones.',
    answer: prices,
    codes: [],
  },
};
