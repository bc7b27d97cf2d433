// Warnings about prices: those below an upstream's cost in any dimension, and cache writes that cost
// like input where the vendor charges more.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { priceWarnings, withWritePrices } from '../../src/catalog/price-warnings.ts';
import { wordsOf } from '../../src/core/sentence.ts';

const NOW = Date.parse('2026-11-28T00:00:00Z');

type Facts = {
  readonly price: string;
  readonly cost?: string;
  readonly upstream?: string;
  readonly prices?: string;
};

function catalogOf({ price, cost, upstream = 'dialect = "demo"', prices = '' }: Facts) {
  const text = `
[[upstream]]
id = "up"
${upstream}
[[model]]
slug = "swift-1"
context_window = 400000
max_output = 100
price = { ${price} }
served_by = [{ upstream = "up", model = "swift"${cost === undefined ? '' : `, cost = { ${cost} }`} }]
${prices}
`;
  return loadCatalog({ text, environment: {}, nowMs: NOW });
}

const warnings = (facts: Facts) => priceWarnings(catalogOf(facts), NOW).map(wordsOf);

const COST = 'input = 2, cached_input = "0.2", cache_write = "2.5", output = 10';

describe('a price below its cost', () => {
  test.each([
    [
      'output',
      'input = 2, cached_input = "0.2", cache_write = "2.5", output = 9',
      COST,
      'output 9 (costs 10)',
    ],
    ['writes', 'input = 2, cached_input = "0.2", output = 10', COST, 'cache_write 2 (costs 2.5)'],
    [
      'reads',
      'input = 2, cached_input = "0.1", cache_write = 3, output = 10',
      COST,
      'cached_input 0.1 (costs 0.2)',
    ],
    ['writes of an hour', COST, `${COST}, cache_write_1h = 4`, 'cache_write_1h 2.5 (costs 4)'],
    [
      'a tier',
      COST,
      `${COST}, tiers = [{ above_tokens = 272000, input = 4, cached_input = "0.4", cache_write = 5, output = 15 }]`,
      'above 272000 tokens input 2 (costs 4), cached_input 0.2 (costs 0.4), cache_write 2.5 (costs 5), output 10 (costs 15)',
    ],
    [
      'a factor',
      COST,
      `${COST}, service_tiers = { priority = 2, flex = "0.5" }`,
      'service tier priority × 1 (costs × 2)',
    ],
  ])('in %s', (_title, price, cost, gap) => {
    expect(warnings({ price, cost })).toEqual([
      `swift-1: the current price is below the cost of up: ${gap}`,
    ]);
  });

  test('and of a later period', () => {
    const prices = '[[model.prices]]\nvalid_from = 2026-12-01T00:00:00Z\ninput = 1\noutput = 10';
    const cost = 'input = 2, output = 10';
    const [line, ...more] = warnings({ price: cost, cost, prices });
    expect(line).toStartWith('swift-1: the price from 2026-12-01T00:00:00.000Z on is below');
    expect(more).toEqual([]);
  });

  test('is not one that ended, nor one that covers it, nor one without a cost', () => {
    const prices = '[[model.prices]]\nvalid_from = 2026-11-01T00:00:00Z\ninput = 2\noutput = 10';
    const cost = 'input = 2, output = 10';
    expect(warnings({ price: 'input = 1, output = 1', cost, prices })).toEqual([]);
    expect(warnings({ price: `${COST}, service_tiers = { flex = 1 }`, cost: COST })).toEqual([]);
    expect(warnings({ price: 'input = 1, output = 1' })).toEqual([]);
  });
});

const ANTHROPIC = 'dialect = "messages"\nbase_url = "https://api.anthropic.com"';

describe('cache writes at the input price', () => {
  const price = 'input = "2", output = "10"';
  const words =
    'swift-1: the current price charges cache writes like input, and up charges 1.25 times its input price for them; write cache_write = "2.5" in the next price';

  test('are named where the vendor charges more, and where the profile says so', () => {
    expect(warnings({ price, upstream: ANTHROPIC })).toEqual([words]);
    const counting = `dialect = "chat"\nbase_url = "https://models.example"\nprofile = "mine"`;
    const prices = '[profile.mine]\nbase = "chat"\nunreported_cache_writes = "count"';
    expect(warnings({ price, upstream: counting, prices })).toEqual([words]);
  });

  test('are not where they have a price, or the vendor charges none', () => {
    expect(warnings({ price: `${price}, cache_write = "2.1"`, upstream: ANTHROPIC })).toEqual([]);
    const other = 'dialect = "chat"\nbase_url = "https://api.anthropic.com.example/v1"';
    expect(warnings({ price, upstream: other })).toEqual([]);
  });

  test('get an explicit price in the next draft, with all its rows; what is written stays', () => {
    const catalog = catalogOf({ price, upstream: ANTHROPIC });
    const at = { model: 'swift-1', valid_from: '2027-01-01T00:00:00Z' };
    const row = { input: '0.1', output: '1' };
    const tiers = [{ above_tokens: 9, ...row, input: 4 }];
    const windows = [{ from: '01:00', to: '02:00', ...row, cache_write: '0.1' }];
    expect(withWritePrices({ add: [{ ...at, ...row, tiers, windows }] }, catalog).add).toEqual([
      {
        ...{ ...at, ...row, cache_write: '0.125' },
        ...{ tiers: [{ ...tiers[0], cache_write: '5' }], windows },
      },
    ] as never);
    const plain = catalogOf({ price });
    const draft = { add: [{ ...at, ...row }] };
    expect(withWritePrices(draft, plain)).toEqual(draft);
  });
});
