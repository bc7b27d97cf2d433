// The bill of a request for API keys states what its receipt states.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BASES } from '../../src/core/generation.ts';
import { micro, usdRate } from '../../src/core/money.ts';
import {
  type AccountReceipt,
  NO_PREVIOUS_RECEIPT,
  type RequestReceipt,
  receiptBody,
} from '../../src/core/receipt.ts';
import type { RequestHistory } from '../../src/ledger/explain.ts';
import { requestBill } from '../../src/operations/request-bill.ts';
import { flatPrice } from '../support/price.ts';

const count = fc.nat(10_000_000);
const counts = {
  ...{ inputTokens: count, cachedInputTokens: count, cacheWriteTokens: count },
  ...{ outputTokens: count, reasoningTokens: count },
};
const estimate = fc.record(
  { seen: count, quietMs: count, quietTokens: count, pace: count, counted: count, most: count },
  { requiredKeys: ['seen', 'quietMs', 'quietTokens', 'pace'] },
);
const details = { cachedExplicitTokens: count, serviceTier: fc.constant('priority'), estimate };
const usages = fc
  .tuple(
    fc.record({ ...counts, basis: fc.constantFrom(...BASES) }),
    fc.record(details, { requiredKeys: [] }),
  )
  .map(([usage, more]) => ({ ...usage, ...more }));

const RECEIPT: RequestReceipt = {
  kind: 'request',
  accountId: 'acct_1',
  sequence: 1,
  previous: NO_PREVIOUS_RECEIPT,
  ...{ posted: micro(0n), available: micro(0n) },
  requestId: 'req_1',
  ...{ startedAt: Date.UTC(2026, 10, 28, 8), endedAt: Date.UTC(2026, 10, 28, 9) },
  ...{ model: 'swift-1', modelServed: 'swift-0', outcome: 'client_cancelled' },
  usage: {
    ...{ inputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0 },
    ...{ outputTokens: 1, reasoningTokens: 0, basis: 'reported' },
  },
  ...{ price: flatPrice('price_a', 1n), priceServed: null },
  ...{ held: micro(0n), charged: micro(0n), debited: micro(0n), loss: micro(0n) },
  usdPerMillion: usdRate(2_500_000n),
};

function booksOf(receipt: AccountReceipt, hash = '') {
  const history = { hold: { accountId: 'acct_1' }, record: {} } as RequestHistory;
  return { explain: async () => history, receipt: async () => ({ receipt, hash }) };
}

test('law: the bill of an ended request states the usage and the debit of its receipt', async () => {
  const amounts = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(micro);
  await fc.assert(
    fc.asyncProperty(usages, amounts, async (usage, debited) => {
      const receipt = { ...RECEIPT, usage, debited };
      const books = booksOf(receipt, 'ab');
      const body = receiptBody(receipt);
      const stated = JSON.parse(body);
      expect(await requestBill(books, 'acct_1', 'req_1')).toMatchObject({
        ...{ status: 'ended', model: 'swift-1', model_served: 'swift-0' },
        outcome: 'client_cancelled',
        ...{ started_at: stated.started_at, ended_at: stated.ended_at },
        usage: stated.usage,
        svc_tokens_debited: stated.debited,
        ...(usage.estimate === undefined ? {} : { svc_estimated: true }),
        receipt: { hash: 'ab', body },
      });
      expect(await requestBill(books, 'acct_2', 'req_1')).toBeUndefined();
    }),
  );
});

test('states dollars by the rate of the receipt', async () => {
  const receipt = { ...RECEIPT, debited: micro(4_000_000n) };
  const books = booksOf(receipt);
  const bill = await requestBill(books, 'acct_1', 'req_1');
  expect(bill).toMatchObject({ svc_cost_usd: '0.00001' });
});

test('a movement of the balance is no request', async () => {
  const receipt: AccountReceipt = {
    kind: 'credit',
    ...{ transferId: 'credit:1', at: 0, amount: micro(1n) },
    ...{ accountId: 'acct_1', sequence: 1, previous: NO_PREVIOUS_RECEIPT },
    ...{ posted: micro(1n), available: micro(1n) },
  };
  const books = booksOf(receipt);
  expect(await requestBill(books, 'acct_1', 'credit:1')).toBeUndefined();
});
