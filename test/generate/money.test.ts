// What a request reserves at an upstream that is asked for another service tier, and what a client
// reads when another node spent the money behind an answer that had begun.

import { expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { createLearned } from '../../src/core/learned.ts';
import { micro, tokenCount } from '../../src/core/money.ts';
import type { LimitView } from '../../src/core/plan.ts';
import { priceAt } from '../../src/core/price-book.ts';
import { type Money, moneyFor, revokedHold } from '../../src/generate/money.ts';
import type { CheckedRequest } from '../../src/generate/pipeline-types.ts';
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

const FAST = 'extra_body = { service_tier = "priority" }';

/** A model whose price doubles for the tier; the members go to its upstream and to its placement. */
function reserved(ofUpstream: string, ofPlacement: string): string {
  const { catalog, model } = tieredCatalog(ofUpstream, ofPlacement);
  const asked = {
    promptTokens: tokenCount(10),
    outputBound: tokenCount(10),
    request: { stop: [] },
    facts: { accountId: 'acct_1' },
  };
  const price = priceAt(model.prices, 0);
  return String(
    moneyFor(
      { catalog, model, price, ...asked } as unknown as CheckedRequest,
      createLearned(() => 0),
    ).amount,
  );
}

function tieredCatalog(ofUpstream: string, ofPlacement: string) {
  const catalog = loadCatalog({
    text: `
[profile.own]
base = "openai"
${ofUpstream}
[[upstream]]
id = "one"
profile = "own"
base_url = "http://127.0.0.1:9"
[[model]]
slug = "m"
context_window = 1000
max_output = 100
price = { input = "1", output = "1", service_tiers = { priority = "2" } }
served_by = [{ upstream = "one", model = "m"${ofPlacement} }]`,
    environment: {},
    nowMs: 0,
  });
  const model = catalog.resolve('m');
  if (model === undefined) throw new Error('no model');
  return { catalog, model };
}

test.each([
  ['no tier', '', '', '20000000'],
  ['the tier of the upstream', FAST, '', '40000000'],
  ['the tier of this model alone', '', `, profile = { ${FAST} }`, '40000000'],
  ['the ordinary tier of this model alone', FAST, ', profile = "openai"', '20000000'],
])('reserves the price of %s', (_, ofUpstream, ofPlacement, amount) => {
  expect(reserved(ofUpstream, ofPlacement)).toBe(amount);
});
