// What the model list says of a price that changes: now, next, and the schedule.

import { expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { pricingRecord } from '../../src/catalog/pricing-record.ts';

const { models, usdPerMillion } = loadCatalog({
  text: `
[service]
usd_per_million = "2.5"
[[upstream]]
id = "up"
dialect = "demo"
[[model]]
slug = "swift-1"
context_window = 1000
max_output = 100
served_by = [{ upstream = "up", model = "swift" }]
price = { input = "0.15", output = "0.60" }
[[model.prices]]
valid_from = 2026-10-01T00:00:00Z
input = "0.2"
cached_input = "0.02"
cache_write = "0.25"
output = 1
[[model.prices.windows]]
from = "16:30"
to = "00:30"
days = ["sat", "sun"]
input = "0.1"
output = "0.000000000001"
[[model.prices]]
valid_from = 2027-01-01T00:00:00Z
input = 1
output = 2
`,
  environment: {},
  nowMs: 0,
});
const [model] = models;
if (model === undefined) throw new Error('the catalog has one model');
const { prices } = model;

const version = (index: number): string => prices[index]?.price.version ?? 'none';

const FIRST = {
  version: version(0),
  input: '0.375',
  cached_input: '0.375',
  cache_write: '0.375',
  output: '1.5',
  svc_tokens: { input: '150000', cached_input: '150000', cache_write: '150000', output: '600000' },
};
const SECOND = {
  version: version(1),
  input: '0.5',
  cached_input: '0.05',
  cache_write: '0.625',
  output: '2.5',
  svc_tokens: { input: '200000', cached_input: '20000', cache_write: '250000', output: '1000000' },
};
const WEEKEND = {
  version: prices[1]?.windows[0]?.price.version ?? 'none',
  input: '0.25',
  cached_input: '0.25',
  cache_write: '0.25',
  output: '0.0000000000025',
  svc_tokens: {
    input: '100000',
    cached_input: '100000',
    cache_write: '100000',
    output: '0.000001',
  },
};
const LAST = {
  version: version(2),
  input: '2.5',
  cached_input: '2.5',
  cache_write: '2.5',
  output: '5',
  svc_tokens: {
    input: '1000000',
    cached_input: '1000000',
    cache_write: '1000000',
    output: '2000000',
  },
};
const WINDOWS = [{ from: '16:30', to: '00:30', days: ['sat', 'sun'], ...WEEKEND }];
const SCHEDULE = [
  { valid_from: null, ...FIRST, windows: [] },
  { valid_from: '2026-10-01T00:00:00.000Z', ...SECOND, windows: WINDOWS },
  { valid_from: '2027-01-01T00:00:00.000Z', ...LAST, windows: [] },
];

test.each([
  ['2026-09-01T00:00:00Z', FIRST, '2026-10-01T00:00:00.000Z', 0],
  ['2026-10-01T00:00:00Z', SECOND, '2026-10-03T16:30:00.000Z', 1],
  ['2026-10-03T16:30:00Z', WEEKEND, '2026-10-04T00:30:00.000Z', 1],
  ['2026-12-31T00:00:00Z', SECOND, '2027-01-01T00:00:00.000Z', 1],
  ['2027-01-01T00:00:00Z', LAST, null, 2],
])('at %s', (now, rates, next, past) => {
  expect(pricingRecord(prices, usdPerMillion, Date.parse(now)) as unknown).toEqual({
    currency: 'USD',
    unit: '1M_tokens',
    ...rates,
    next_change_at: next,
    schedule: SCHEDULE.slice(past),
  });
});
