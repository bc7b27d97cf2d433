// Tiers by prompt length, cache rates and service tiers in a catalog: what they mean, and the message
// for each mistake.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { pricingRecord } from '../../src/catalog/pricing-record.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { pico, usdRate } from '../../src/core/money.ts';
import type { Price } from '../../src/core/price.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { thrownBy } from '../support/thrown.ts';

const RATES = 'input = "2", output = "10"';

function load(price: string, cost = '') {
  const text = `
[[upstream]]
id = "up"
dialect = "demo"
[[model]]
slug = "swift-1"
context_window = 400000
max_output = 100
price = { ${price} }
served_by = [{ upstream = "up", model = "swift"${cost === '' ? '' : `, cost = { ${cost} }`} }]
`;
  const [model] = loadCatalog({ text, environment: {}, nowMs: 0 }).models;
  if (model === undefined) throw new Error('the catalog has one model');
  return model;
}

const priceOf = (price: string): Price => load(price).prices[0].price;

function problemsOf(price: string, cost?: string): readonly string[] {
  const { problems = [] } = thrownBy(CatalogError, () => load(price, cost)) ?? {};
  return problems.map((problem) => wordsOf(problem).replace('built-in catalog: model[0].', ''));
}

describe('the version of a price', () => {
  test('without the new terms is the one that it always had', () => {
    expect(priceOf(RATES).version).toBe('price_15e9701eb3ad2070');
    expect(priceOf(`${RATES}, cached_input = "1", cache_write = "3"`).version).toBe(
      'price_1f17d73421aa18ac',
    );
  });

  test('stays where a rate is written that equals its default', () => {
    const { version, terms } = priceOf(`${RATES}, cached_input_explicit = "2", cache_write_1h = 2`);
    expect(version).toBe(priceOf(RATES).version);
    expect(terms).toBeUndefined();
  });

  test('differs with each term', () => {
    const versions = [
      '',
      ', cache_write_1h = 4',
      ', cached_input_explicit = 1',
      ', tiers = [{ above_tokens = 9, input = 3, output = 10 }]',
      ', tiers = [{ above_tokens = 8, input = 3, output = 10 }]',
      ', service_tiers = { flex = "0.5" }',
      ', service_tiers = { flex = "0.25" }',
    ].map((more) => priceOf(RATES + more).version);
    expect(new Set(versions).size).toBe(versions.length);
  });
});

describe('terms', () => {
  test('have exact rates and factors, in one order', () => {
    const { terms } = priceOf(
      `${RATES}, cache_write_1h = "4", service_tiers = { priority = 2, flex = "0.5" },
       tiers = [{ above_tokens = 200000, input = "4", cache_write_1h = "8", output = "15" }]`.replace(
        /\n\s*/g,
        ' ',
      ),
    );
    const row = { input: 4n, cachedInput: 4n, cacheWrite: 4n, output: 15n, cacheWriteLong: 8n };
    const rates = Object.entries(row).map(([name, rate]) => [name, pico(rate * 10n ** 12n)]);
    expect(terms).toEqual({
      cacheWriteLong: pico(4n * 10n ** 12n),
      tiers: [{ aboveTokens: 200_000, ...Object.fromEntries(rates) }],
      serviceTiers: [
        { name: 'flex', factor: 5_000 },
        { name: 'priority', factor: 20_000 },
      ],
    });
  });

  test('are those of a cost, too', () => {
    const { servedBy } = load(RATES, `${RATES}, service_tiers = { fast = "1.5" }`);
    expect(servedBy[0]?.cost?.terms?.serviceTiers).toEqual([{ name: 'fast', factor: 15_000 }]);
  });
});

const TIER = '{ above_tokens = 200, input = "4", output = "15" }';

describe('a price is refused', () => {
  test.each([
    [
      'tiers = [{ above_tokens = 200, input = 4, output = 15 }, { above_tokens = 200, input = 4, output = 15 }]',
      'price.tiers[1].above_tokens: must be above 200, the bound of the tier before it',
    ],
    [
      `cache_write = 3, tiers = [${TIER}]`,
      'price.tiers[0].cache_write: is missing; a tier sets every rate that model[0].price sets',
    ],
    [
      'tiers = [{ above_tokens = 200, input = 4, cached_input = 5, output = 15 }]',
      'price.tiers[0].cached_input: must not be above input: a hold covers the prompt at that price',
    ],
    [
      'cached_input_explicit = 3',
      'price.cached_input_explicit: must not be above input: a hold covers the prompt at that price',
    ],
    [
      'service_tiers = { "Über" = 2 }',
      'price.service_tiers."Über": must have a name that is 2 to 32 of a-z, 0-9, "_" and "-", beginning with a letter',
    ],
    [
      'service_tiers = { flex = 0 }',
      'price.service_tiers.flex: must be a decimal above zero such as "0.5", at most 1000000 and with at most 4 decimals',
    ],
    [
      'service_tiers = { ultrafast = "100.0001" }',
      'price.service_tiers.ultrafast: must not be above 100',
    ],
    [
      'cache_write_1h = 200000, service_tiers = { ultrafast = 100 }',
      'price.cache_write_1h: must not be above 1562.5 with this context_window: an answer could cost more than the books can hold',
    ],
    ['tiers = []', 'price.tiers: must be a list of 1 to 8 tiers by prompt length'],
  ])('with %s', (more, problem) => {
    expect(problemsOf(`${RATES}, ${more}`)).toContain(problem);
  });

  test('with the tiers of a cost out of order', () => {
    const tiers = `tiers = [${TIER}, { above_tokens = 100, input = 4, output = 15 }]`;
    expect(problemsOf(RATES, `${RATES}, ${tiers}`)).toEqual([
      'served_by[0].cost.tiers[1].above_tokens: must be above 200, the bound of the tier before it',
    ]);
  });
});

test('the model list shows them in USD and service tokens a million, and nothing where there are none', () => {
  const { prices } = load(
    `${RATES}, cache_write_1h = "4", service_tiers = { flex = "0.5" }, tiers = [{ above_tokens = 9, input = "4", cached_input = "1", cache_write_1h = "8", output = "15" }]`,
  );
  const row = {
    input: '4',
    cached_input: '1',
    cache_write: '4',
    cache_write_1h: '8',
    output: '15',
  };
  const million = Object.entries(row).map(([name, rate]) => [name, `${rate}000000`]);
  expect(pricingRecord(prices, usdRate(1_000_000n), 0)).toMatchObject({
    ...{ input: '2', cache_write: '2', cache_write_1h: '4' },
    tiers: [{ above_tokens: 9, ...row, svc_tokens: Object.fromEntries(million) }],
    service_tiers: { flex: '0.5' },
  });
  const plain = pricingRecord(load(RATES).prices, usdRate(1_000_000n), 0);
  const members = Object.keys({ ...plain, ...plain.schedule[0] });
  expect(members).not.toContain('tiers');
  expect(members).not.toContain('service_tiers');
  expect(members).not.toContain('cache_write_1h');
});
