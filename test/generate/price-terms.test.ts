// What a request reserves at a price with tiers and service tiers.

import { expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { createLearned } from '../../src/core/learned.ts';
import { tokenCount } from '../../src/core/money.ts';
import { coverAmount } from '../../src/core/price.ts';
import { boundByBalance, moneyFor } from '../../src/generate/money.ts';
import type { CheckedRequest } from '../../src/generate/pipeline-types.ts';

const LEARNED = createLearned(() => 0);
// Sixteen times the estimate.
LEARNED.overran('acct_1');

const PRICE = `{ input = "1", output = "2", service_tiers = { priority = "2", flex = "0.5" }, tiers = [{ above_tokens = 1000, input = "3", output = "4" }] }`;

function checked(promptTokens: number, profile: string, outputBound = 100): CheckedRequest {
  const catalog = loadCatalog({
    text: `
[profile.asks]
base = "chat"
extra_body = { service_tier = "priority" }
[profile.plain]
base = "chat"
extra_body = { route = "near" }
[[upstream]]
id = "first"
dialect = "chat"
base_url = "https://models.example/v1"
profile = "plain"
[[upstream]]
id = "second"
dialect = "chat"
base_url = "https://models.example/v1"
profile = "${profile}"
[[model]]
slug = "swift-1"
context_window = 10000
max_output = 8000
price = ${PRICE}
fallbacks = ["swift-0"]
served_by = [{ upstream = "first", model = "x" }]
[[model]]
slug = "swift-0"
context_window = 10000
max_output = 8000
price = ${PRICE}
served_by = [{ upstream = "second", model = "x" }]
`,
    environment: {},
    nowMs: 0,
  });
  const [model] = catalog.models;
  const price = model?.prices[0].price;
  return {
    ...{ catalog, model, price, promptTokens: tokenCount(promptTokens) },
    ...{ outputBound: tokenCount(outputBound), request: { stop: [] } },
    facts: { accountId: 'acct_1' },
  } as unknown as CheckedRequest;
}

const amount = (tokens: number, profile: string): bigint =>
  moneyFor(checked(tokens, profile), LEARNED).amount / 10n ** 6n;

test('has the rates of the tier that the estimate reaches', () => {
  expect(amount(999, 'plain')).toBe(999n + 200n);
  expect(amount(1_000, 'plain')).toBe(3_000n + 400n);
});

test('has the highest factor only where an upstream of the model or a fallback is asked for a tier', () => {
  expect(amount(999, 'asks')).toBe(2n * (999n + 200n));
  expect(amount(1_000, 'asks')).toBe(2n * (3_000n + 400n));
});

test('the excess covers the whole request at the rates of a tier that the prompt may reach', () => {
  const { excess } = moneyFor(checked(500, 'asks'), LEARNED);
  // Sixteen times the estimate at 3 instead of the estimate at 1, and the output at 4 instead of 2.
  expect(excess / 10n ** 6n).toBe(2n * (8_000n * 3n - 500n + 100n * 2n));
});

test('the excess covers a service tier that an upstream applies without being asked for it', () => {
  const { amount, excess } = moneyFor(checked(500, 'plain'), LEARNED);
  expect(amount / 10n ** 6n).toBe(500n + 100n * 2n);
  expect((amount + excess) / 10n ** 6n).toBe(2n * (8_000n * 3n + 100n * 4n));
});

test('the excess covers all output at the dearest service tier, not just the first slice', () => {
  const request = checked(500, 'plain', 8_000);
  const money = moneyFor(request, LEARNED);
  const held = coverAmount(request.promptTokens, request.outputBound, money.price);
  expect((held + money.excess) / 10n ** 6n).toBe(2n * (8_000n * 3n + 8_000n * 4n));
});

test('the output bound is what the balance pays at the rates of the tier', () => {
  const request = checked(1_000, 'plain', 8_000);
  const money = moneyFor(request, LEARNED);
  const payable = 3_000n + 4n * 5_000n;
  expect(boundByBalance(request, money, (payable * 10n ** 6n) as never)).toBe(tokenCount(5_000));
});
