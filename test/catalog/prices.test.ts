// The prices of a catalog: how they are parsed, and the message for each mistake.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { priceAt, SINCE_EVER, WEEKDAYS } from '../../src/core/price-book.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { thrownBy } from '../support/thrown.ts';

function catalogText(prices: string): string {
  return `
[[upstream]]
id = "up"
dialect = "demo"
[[model]]
slug = "swift-1"
max_output = 100
served_by = [{ upstream = "up", model = "swift" }]
${prices.startsWith('context_window') ? '' : 'context_window = 1000'}
${prices}`;
}

function load(prices: string) {
  const { models } = loadCatalog({ text: catalogText(prices), environment: {}, nowMs: 0 });
  const [model] = models;
  if (model === undefined) throw new Error('the catalog has one model');
  return model.prices;
}

function problemsOf(prices: string): readonly string[] {
  const { problems = [] } = thrownBy(CatalogError, () => load(prices)) ?? {};
  return problems.map((problem) => wordsOf(problem).replace('built-in catalog: ', ''));
}

const PICO = 10n ** 12n;

describe('a book of prices', () => {
  test('holds every version, from when and in which windows', () => {
    const book = load(`
[model.price]
input = 4
cached_input = 1
cache_write = 5
output = 8
[[model.price.windows]]
from = "16:30"
to = "00:30"
input = 2
output = 4
[[model.prices]]
valid_from = 2026-10-01T02:00:00+02:00
input = 3
output = 6
windows = [
  { from = 00:00:00, to = "24:00", days = ["sat", "sun"], input = 3, cached_input = 0, output = 5 },
]
[[model.prices]]
valid_from = "2026-10-01T00:00:00.001Z"
input = 4
cached_input = 1
cache_write = 5
output = 8
`);
    const version = expect.stringMatching(/^price_[0-9a-f]{16}$/);
    const rates = (input: bigint, cachedInput: bigint, cacheWrite: bigint, output: bigint) => ({
      version,
      input: input * PICO,
      cachedInput: cachedInput * PICO,
      cacheWrite: cacheWrite * PICO,
      output: output * PICO,
    });
    expect(book as unknown).toEqual([
      {
        validFromMs: SINCE_EVER,
        price: rates(4n, 1n, 5n, 8n),
        windows: [{ fromMinute: 990, toMinute: 30, days: WEEKDAYS, price: rates(2n, 2n, 2n, 4n) }],
      },
      {
        validFromMs: Date.UTC(2026, 9, 1),
        price: rates(3n, 3n, 3n, 6n),
        windows: [
          { fromMinute: 0, toMinute: 1_440, days: ['sat', 'sun'], price: rates(3n, 0n, 3n, 5n) },
        ],
      },
      { validFromMs: Date.UTC(2026, 9, 1) + 1, price: rates(4n, 1n, 5n, 8n), windows: [] },
    ]);
    // The same numbers are the same version, other numbers another.
    const versions = book.flatMap(({ price, windows }) =>
      [price, ...windows.map((window) => window.price)].map((each) => each.version),
    );
    expect(versions[4]).toBe(versions[0] as string);
    expect(new Set(versions).size).toBe(4);
    expect(priceAt(book, Date.UTC(2026, 8, 30, 17)).version).toBe(versions[1] as string);
  });

  test('keeps the version of a price whose cache writes cost what input does', () => {
    const versionOf = (text: string): string => load(`price = ${text}`)[0].price.version;
    const plain = versionOf('{ input = "0.15", output = 1 }');
    expect(plain).toBe('price_83ccbbebd3ff8f7c');
    expect(versionOf('{ input = "0.15", cache_write = "0.150", output = 1 }')).toBe(plain);
    expect(versionOf('{ input = "0.15", cache_write = "0.20", output = 1 }')).not.toBe(plain);
  });

  test('may have windows that meet, and later prices without any', () => {
    expect(
      problemsOf(`
price = { input = 1, output = 1, windows = [
  { from = "22:00", to = "06:00", days = ["fri"], input = 1, output = 1 },
  { from = "06:00", to = "22:00", days = ["sat"], input = 1, output = 1 },
  { from = "22:00", to = "06:00", days = ["sat"], input = 1, output = 1 },
] }
prices = []`),
    ).toEqual([]);
  });
});

const RATES = 'input = 1, output = 1';
const RATE = 'must be a decimal such as "0.60", at most 1000000 and with at most 12 decimals';
const FROM = 'must be a time of day in UTC from "00:00" to "23:59", such as "16:30"';
const TO = 'must be a time of day in UTC from "00:00" to "24:00", such as "00:30"';
const INSTANT = 'must be an instant with its zone, such as 2026-10-01T00:00:00Z';
const HOLD = 'must not be above input: a hold covers the prompt at that price';
const LARGE = (rate: string) =>
  `must not be above ${rate} with this context_window: an answer could cost more than the books can hold`;
const DAYS = 'must be a list of different days, such as ["sat", "sun"]';

function withWindows(...windows: readonly string[]): string {
  return `price = { ${RATES}, windows = [${windows.join(', ')}] }`;
}

function withPeriods(...periods: readonly string[]): string {
  return `price = { ${RATES} }\nprices = [${periods.join(', ')}]`;
}

const period = (validFrom: string) => `{ valid_from = ${validFrom}, ${RATES} }`;
const window = (from: string, to: string, more = '') =>
  `{ from = "${from}", to = "${to}", ${more}${RATES} }`;

const MISTAKES: readonly (readonly [string, readonly string[]])[] = [
  [
    'price = { input = 1, cached_input = 2, cache_write = -1, output = 1 }',
    [`model[0].price.cache_write: ${RATE}`, `model[0].price.cached_input: ${HOLD}`],
  ],
  [
    withWindows('{ from = "01:00", to = "02:00", input = 1, cached_input = "1.1", output = 1 }'),
    [`model[0].price.windows[0].cached_input: ${HOLD}`],
  ],
  [
    'context_window = 100000000\n' +
      withWindows(
        '{ from = "01:00", to = "02:00", input = 1, cache_write = 1000, output = "625.000000000001" }',
        '{ from = "03:00", to = "04:00", input = 625, output = 625 }',
      ),
    [
      `model[0].price.windows[0].cache_write: ${LARGE('625')}`,
      `model[0].price.windows[0].output: ${LARGE('625')}`,
    ],
  ],
  [
    `context_window = 128000\nprice = { input = 488282, output = 488281 }`,
    [`model[0].price.input: ${LARGE('488281.25')}`],
  ],
  [
    withWindows('{ from = "1:00", to = "24:01", input = 1 }', '3'),
    [
      `model[0].price.windows[0].output: is missing; ${RATE}`,
      `model[0].price.windows[0].from: ${FROM}`,
      `model[0].price.windows[0].to: ${TO}`,
      'model[0].price.windows[1]: must be a table such as { from = "16:30", to = "00:30", input = "0.15", cached_input = "0.03", output = "0.60" }',
    ],
  ],
  [withWindows(window('24:00', '01:00')), [`model[0].price.windows[0].from: ${FROM}`]],
  [withWindows(window('01:00', '01:00:30')), [`model[0].price.windows[0].to: ${TO}`]],
  [
    withWindows(window('01:00', '01:00')),
    [
      'model[0].price.windows[0].to: must not be the same as from; a whole day is from "00:00" to "24:00"',
    ],
  ],
  [
    withWindows(window('01:00', '03:00'), window('02:59', '01:00'), window('03:00', '04:00')),
    [
      'model[0].price.windows[1]: overlaps model[0].price.windows[0]; at each time one window at most may be open',
      'model[0].price.windows[2]: overlaps model[0].price.windows[1]; at each time one window at most may be open',
    ],
  ],
  [
    withWindows(
      window('22:00', '06:00', 'days = ["sat"], '),
      window('05:00', '07:00', 'days = ["sun", "mon"], '),
      window('05:00', '07:00', 'days = ["sat"], '),
    ),
    [
      'model[0].price.windows[1]: overlaps model[0].price.windows[0]; at each time one window at most may be open',
    ],
  ],
  [
    withWindows(window('01:00', '02:00', 'days = [], '), window('01:00', '02:00')),
    [`model[0].price.windows[0].days: ${DAYS}`],
  ],
  [
    withWindows(window('01:00', '02:00', 'days = ["mon", "mon"], ')),
    [`model[0].price.windows[0].days: ${DAYS}`],
  ],
  [
    withWindows(window('01:00', '02:00', 'days = ["Monday"], ')),
    [
      'model[0].price.windows[0].days[0]: must be "mon", "tue", "wed", "thu", "fri", "sat" or "sun"',
    ],
  ],
  [
    withWindows(window('01:00', '02:00', 'day = ["mon"], ')),
    ['model[0].price.windows[0].day: is not a known key; did you mean days?'],
  ],
  [
    'price = { input = 1, output = 1, windows = 1 }',
    [`model[0].price.windows: must be a list of windows`],
  ],
  [
    `price = { ${RATES} }\nprices = { ${RATES} }`,
    ['model[0].prices: must be a list of later prices, each written as [[model.prices]]'],
  ],
  [
    withPeriods(`{ ${RATES} }`, period('2026-10-01'), period('2026-10-01T00:00:00')),
    [
      `model[0].prices[0].valid_from: is missing; ${INSTANT}`,
      `model[0].prices[1].valid_from: ${INSTANT}`,
      `model[0].prices[2].valid_from: ${INSTANT}`,
    ],
  ],
  [
    withPeriods(period('"2026-02-29T00:00:00Z"'), period('"2026-02-28T25:00Z"')),
    [
      'model[0].prices[0].valid_from: must be an instant that the calendar has',
      'model[0].prices[1].valid_from: must be an instant that the calendar has',
    ],
  ],
  [
    withPeriods(
      period('2026-10-01T00:00:00Z'),
      period('2026-10-01T01:00:00+01:00'),
      period('2026-10-02T00:00:00Z'),
      period('2026-10-01T12:00:00Z'),
    ),
    [
      'model[0].prices[1].valid_from: must be later than model[0].prices[0].valid_from',
      'model[0].prices[3].valid_from: must be later than model[0].prices[2].valid_from',
    ],
  ],
  [
    withPeriods(
      `{ valid_from = 2026-10-01T00:00:00Z, input = 1, cached_input = 2, output = 1, windows = [${window('02:00', '02:00')}] }`,
      '1',
    ),
    [
      'model[0].prices[1]: must be a table such as { valid_from = 2026-10-01T00:00:00Z, input = "0.15", cached_input = "0.03", output = "0.60" }',
      `model[0].prices[0].cached_input: ${HOLD}`,
      'model[0].prices[0].windows[0].to: must not be the same as from; a whole day is from "00:00" to "24:00"',
    ],
  ],
];

test.each(MISTAKES)('%p', (prices, expected) => {
  expect(problemsOf(prices)).toEqual([...expected]);
});
