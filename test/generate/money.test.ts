// What a client reads when another node spent the money behind an answer that had begun.

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import type { LimitView } from '../../src/core/plan.ts';
import { type Money, revokedHold } from '../../src/generate/money.ts';
import type { HoldResult } from '../../src/ledger/contract.ts';

const MONEY = { amount: micro(5n), excess: micro(1n), hidden: micro(100n) } as Money;

const LIMITS: LimitView = {
  ...{ limitRequests: 10, remainingRequests: 9, resetRequestsSeconds: 60 },
  ...{ limitTokens: 1_000, remainingTokens: 900 },
};

const LATER: readonly [string, Partial<HoldResult>, string][] = [
  ['a balance', {}, 'The balance does not cover'],
  ['a balance below the budget', { budget: { left: micro(60n) } }, 'The balance does not cover'],
  ['a budget', { budget: { left: micro(3n) } }, 'The budget of this API key does not cover'],
];

test.each([...LATER])('%s that covers hidden output no longer is named', (_, rest, sentence) => {
  const final = { ok: true, available: micro(50n), ...rest };
  const error = revokedHold(final, MONEY, LIMITS);
  expect(error.code).toBe('concurrency_limit_exceeded');
  expect(error.message).toStartWith(sentence);
});
