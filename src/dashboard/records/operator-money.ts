// The console's records about totals of all accounts.

import { type Static, Type } from '@sinclair/typebox';
import { count, decimal, instant, list, many, named, nullable, oneOf, text } from './schema.ts';

const figures = {
  requests: count,
  failed: count,
  input_tokens: count,
  estimated_input_tokens: count,
  output_tokens: count,
  spent: decimal,
  spent_usd: decimal,
  cost: decimal,
  cost_usd: decimal,
  margin: decimal,
  margin_usd: decimal,
  loss: decimal,
  loss_usd: decimal,
  /** Requests excluded from the margin, because a cost is unknown. */
  uncosted: count,
};

const figuresAnswer = named('MoneyFigures', figures);

const moneyAccountAnswer = named('MoneyAccount', {
  account_id: text,
  email: nullable(text),
  amount: decimal,
  amount_usd: decimal,
});

export const spendersAnswer = list('Spenders', moneyAccountAnswer);

export const moneyAnswer = named('Money', {
  from: instant,
  to: instant,
  step: oneOf('hour', 'day'),
  before: figuresAnswer,
  balances: Type.Object({
    accounts: count,
    posted: decimal,
    posted_usd: decimal,
    held: decimal,
    held_usd: decimal,
  }),
  totals: figuresAnswer,
  models: many(Type.Object({ model: text, ...figures })),
  series: many(Type.Object({ at: instant, ...figures })),
  holds: Type.Object({
    open: count,
    oldest: many(
      Type.Object({
        request_id: text,
        account_id: text,
        model: text,
        phase: oneOf('held', 'delivering'),
        amount: decimal,
        created_at: instant,
      }),
    ),
  }),
  largest_balances: many(moneyAccountAnswer),
  /** Requests not yet counted. */
  behind: count,
});

export type MoneyFiguresRecord = Static<typeof figuresAnswer>;

export type MoneyAccountRecord = Static<typeof moneyAccountAnswer>;

export type MoneyRecord = Static<typeof moneyAnswer>;
