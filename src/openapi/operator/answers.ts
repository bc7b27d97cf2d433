// What the operators' API answers where nothing went wrong.

import { type TObject, type TProperties, Type } from '@sinclair/typebox';
import {
  allRates,
  balance,
  count,
  decimal,
  instant,
  named,
  nullable,
  oneOf,
  windowPrice,
} from '../answers.ts';
import { apiKey } from '../key-answers.ts';

const list = <P extends TProperties>($id: string, row: TObject<P>) =>
  named($id, {
    object: Type.Literal('list'),
    data: Type.Array(row),
    next: nullable(
      Type.String({ description: 'The `after` value of the next page; null at the end.' }),
    ),
  });

export const account = named('Account', {
  id: Type.String({ pattern: '^acct_' }),
  object: Type.Literal('account'),
  email: Type.String(),
  email_verified: Type.Boolean(),
  standing: oneOf('active', 'suspended', 'pending_deletion', 'blocked'),
  plan: Type.Object({ slug: Type.String(), name: Type.String(), since: instant }),
  balance,
  api_keys: Type.Object({ active: count, limit: count }),
  created_at: instant,
});

export const accountList = list('AccountList', account);

export const createdAccount = named('CreatedAccount', {
  account,
  key: Type.String({ pattern: '^sk-', description: 'The first key, shown only here.' }),
});

export const key = apiKey;
export const keyList = list('ApiKeyList', apiKey);

export const createdKey = named('CreatedApiKey', {
  ...apiKey.properties,
  key: Type.String({ pattern: '^sk-', description: 'The key itself, shown only here.' }),
});

const approvalStates = ['rejected', 'withdrawn', 'failed', 'expired'] as const;

const approval = named('Approval', {
  id: Type.String({ pattern: '^appr_' }),
  object: Type.Literal('approval'),
  kind: oneOf('credit', 'grant'),
  account_id: Type.String(),
  account_email: Type.Null(),
  amount: decimal,
  count: Type.Null(),
  reason: Type.String(),
  state: oneOf('pending', 'approved', ...approvalStates),
  asked_by: Type.String(),
  asked_by_email: Type.Null(),
  asked_at: instant,
  expires_at: instant,
  decided_by: nullable(Type.String()),
  decided_at: nullable(instant),
  note: nullable(Type.String()),
});

const bookedCredit = named('BookedCredit', {
  id: Type.String(),
  object: Type.Literal('credit'),
  status: Type.Literal('booked'),
  account: Type.String(),
  kind: oneOf('credit', 'grant'),
  amount: decimal,
  reason: Type.String(),
  booked_at: instant,
  /** Behind it, not of today. */
  balance: decimal,
});

const waitingCredit = named('WaitingCredit', {
  id: Type.String(),
  object: Type.Literal('credit'),
  status: oneOf('waiting_for_approval', ...approvalStates),
  approval,
});

export const credit = Type.Union([bookedCredit, waitingCredit], { $id: 'Credit' });

export const usage = named('Usage', {
  object: Type.Literal('list'),
  account: Type.String(),
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

export const prices = named('Prices', {
  at: instant,
  currency: Type.Literal('USD'),
  unit: Type.Literal('1M_tokens'),
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      version: Type.String(),
      next_change_at: nullable(instant),
      prices: Type.Array(
        Type.Object({
          valid_from: nullable(instant),
          ...allRates,
          in_force: Type.Boolean(),
          windows: Type.Array(Type.Object({ ...windowPrice, in_force: Type.Boolean() })),
        }),
      ),
    }),
  ),
});
