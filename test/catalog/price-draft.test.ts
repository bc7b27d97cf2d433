// Price drafts in the text of a catalog: comments, order and surrounding text stay, and what cannot
// be edited safely is rejected.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { draftedText, type PriceDraft, readDraft } from '../../src/catalog/price-draft.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { thrownBy } from '../support/thrown.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

const MODEL = (slug: string, rest = '') => `[[model]]
slug = "${slug}"
context_window = 1000
max_output = 100
served_by = [{ upstream = "demo", model = "x" }]
price = { input = "0.15", output = "0.60" } # since ever
${rest}`;

const CATALOG = `# of ours
[[upstream]]
id = "demo"
dialect = "demo"

${MODEL('swift-1')}
# the small one
${MODEL(
  'swift-0',
  `
[[model.prices]]
valid_from = 2026-12-01T00:00:00Z   # winter
input = "0.10"
output = "0.40"

[[model.prices.windows]]
from = "16:30"
to = "00:30"
input = "0.05"
output = "0.20"

[[model.prices]]
valid_from = 2027-02-01T00:00:00+00:00
input = "0.12"
output = "0.50"
`,
)}
# the plans
[plan.pro]
daily_tokens = 5
`;

const slugOf = (name: string) => (name === 'swift' ? 'swift-1' : name);

function apply(draft: PriceDraft, text = CATALOG): string {
  const drafted = draftedText(text, draft, slugOf, NOW);
  return 'text' in drafted ? drafted.text : `not editable: ${drafted.notEditable}`;
}

function starts(text: string, slug: string): string[] {
  const catalog = loadCatalog({ text, environment: {}, nowMs: 0 });
  const prices = catalog.resolve(slug)?.prices ?? [];
  return prices.slice(1).map(({ validFromMs }) => new Date(validFromMs).toISOString());
}

const RATES = { input: '0.2', output: '0.8' };

test('the first price to come of a model stands at its end, and nothing else moves', () => {
  const text = apply({
    add: [{ model: 'swift', valid_from: '2026-12-24T00:00:00+01:00', ...RATES }],
  });
  expect(text).toBe(
    CATALOG.replace(
      ' # since ever\n\n# the small one',
      ` # since ever

[[model.prices]]
valid_from = 2026-12-23T23:00:00Z
input = "0.2"
output = "0.8"

# the small one`,
    ),
  );
});

test.each([
  ['2026-11-30T00:00:00Z', [0, 1, 2]],
  ['2027-01-01T00:00:00Z', [1, 0, 2]],
  ['2027-03-01T00:00:00Z', [1, 2, 0]],
])('a price from %s on stands in its place among the others', (valid_from, order) => {
  const all = [valid_from, '2026-12-01T00:00:00Z', '2027-02-01T00:00:00Z'];
  const text = apply({ add: [{ model: 'swift-0', valid_from, ...RATES }] });
  const expected = order.map((at) => new Date(all[at] ?? '').toISOString());
  expect(starts(text, 'swift-0')).toEqual(expected);
  expect(text).toContain('# winter');
  const [added = '', ...rest] = text.split('\n').filter((line) => !CATALOG.includes(`${line}\n`));
  expect([added, ...rest]).toEqual([
    `valid_from = ${valid_from}`,
    'input = "0.2"',
    'output = "0.8"',
  ]);
});

test('what has not begun can be withdrawn, windows and all, and put back as it was', () => {
  const withdraw = [{ model: 'swift-0', valid_from: '2026-12-01T01:00:00+01:00' }];
  const text = apply({ withdraw });
  expect(starts(text, 'swift-0')).toEqual(['2027-02-01T00:00:00.000Z']);
  expect(text).not.toContain('16:30');
  const windows = [{ from: '16:30', to: '00:30', days: ['sat' as const], ...RATES }];
  const replaced = apply({
    withdraw,
    add: [{ model: 'swift-0', valid_from: '2026-12-01T00:00:00Z', ...RATES, windows }],
  });
  const catalog = loadCatalog({ text: replaced, environment: {}, nowMs: 0 });
  expect(catalog.resolve('swift-0')?.prices[1]?.windows).toMatchObject([
    { fromMinute: 990, toMinute: 30, days: ['sat'] },
  ]);
});

const problemsOf = (work: () => unknown): readonly string[] =>
  (thrownBy(CatalogError, work)?.problems ?? []).map(wordsOf);

describe('what cannot be', () => {
  const later = { valid_from: '2026-12-25T00:00:00Z', ...RATES };
  test.each<[string, PriceDraft]>([
    ['The draft changes nothing. Add a price, or withdraw one.', {}],
    ['add[0].model: is not in the catalog', { add: [{ model: 'gone', ...later }] }],
    [
      'add[0].valid_from: must be later than now: what has been sold keeps its price',
      { add: [{ model: 'swift', ...RATES, valid_from: '2026-11-21T12:00:00Z' }] },
    ],
    [
      'add[1].valid_from: another price of the model begins then',
      {
        add: [
          { model: 'swift', ...later },
          { model: 'swift-1', ...later },
        ],
      },
    ],
    [
      'add[0].valid_from: another price of the model begins then',
      { add: [{ model: 'swift-0', ...RATES, valid_from: '2026-12-01T00:00:00Z' }] },
    ],
    [
      'withdraw[0].valid_from: no price of the model begins then',
      { withdraw: [{ model: 'swift-0', valid_from: '2026-12-02T00:00:00Z' }] },
    ],
  ])('%s', (problem, draft) => {
    expect(problemsOf(() => apply(draft))).toEqual([problem]);
  });

  test('models in one list are left to their owner', () => {
    const text = `model = [{ slug = "swift-1", price = { input = "1", output = "1" } }]`;
    const add = [{ model: 'swift', ...later }];
    expect(apply({ add }, text)).toStartWith('not editable: The file is written in a way');
  });
});

test('a list in one line is written again, and headers within text are not taken for tables', () => {
  const period = '{ valid_from = 2026-12-01T00:00:00Z, input = "1", output = "1" }';
  const inline = CATALOG.replace('# the small one', `prices = [${period}]\n`);
  const add = [{ model: 'swift', valid_from: '2026-12-25T00:00:00Z', ...RATES }];
  const added = '{ valid_from = 2026-12-25T00:00:00Z, input = "0.2", output = "0.8" }';
  expect(apply({ add }, inline)).toBe(
    inline.replace(`[${period}]`, `[\n  ${period},\n  ${added},\n]`),
  );
  const hidden = `${CATALOG.replace('[[upstream]]', '[service]\nname = """\\\n[[model]]\\\n"""\n[[upstream]]')}`;
  expect(apply({ add }, hidden)).toBe(
    apply({ add }).replace(
      CATALOG.slice(0, 20),
      hidden.slice(0, hidden.length - CATALOG.length + 20),
    ),
  );
});

test('a draft is read from TOML and from JSON, and its mistakes by their place', () => {
  const draft = {
    add: [{ model: 'swift', valid_from: '2026-12-25T00:00:00Z', input: '0.2', output: '0.8' }],
  };
  const toml =
    '[[add]]\nmodel = "swift"\nvalid_from = 2026-12-25T00:00:00Z\ninput = "0.2"\noutput = "0.8"';
  expect(readDraft(JSON.stringify(draft), 'draft')).toEqual(draft);
  expect(readDraft(toml, 'draft')).toEqual(draft);
  expect(problemsOf(() => readDraft(toml.replace('"0.2"', '"cheap"'), 'draft'))).toEqual([
    'draft: add[0].input: must be a decimal such as "0.60", at most 1000000 and with at most 12 decimals',
  ]);
  expect(problemsOf(() => readDraft('{', 'draft'))).toEqual(['draft: is not JSON']);
});

test('every addition can be withdrawn again, and leaves the text as it was', () => {
  const instant = fc.integer({ min: 1, max: 5_000 }).map((hours) => NOW + hours * 3_600_000);
  fc.assert(
    fc.property(instant, fc.constantFrom('swift-0', 'swift-1'), (ms, model) => {
      const valid_from = new Date(ms).toISOString();
      const taken = starts(CATALOG, model).includes(valid_from);
      fc.pre(!taken);
      const added = apply({ add: [{ model, valid_from, ...RATES }] });
      expect(starts(added, model)).toContain(valid_from);
      const back = apply({ withdraw: [{ model, valid_from }] }, added);
      expect(back.replaceAll(/\n+/g, '\n')).toBe(CATALOG.replaceAll(/\n+/g, '\n'));
    }),
    { numRuns: 50 },
  );
});
