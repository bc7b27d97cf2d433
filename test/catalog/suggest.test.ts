// Drafts from public price lists: digits are kept, prices of the catalog stay, and the draft is a
// valid catalog.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { readPriceList } from '../../src/catalog/price-source.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { suggest } from '../../src/catalog/suggest.ts';
import { editToml, plainDocument } from '../../src/catalog/toml-edit.ts';
import { usdRate } from '../../src/core/money.ts';
import { thrownBy } from '../support/thrown.ts';

const CATALOG = `# my catalog
[[upstream]]
id = "openai"
dialect = "chat"
base_url = "https://api.openai.com/v1"

[[model]]
slug = "swift"                      # the best
context_window = 128000
max_output = 8192
price = { input = "1.00", output = "4" }
served_by = [
  { upstream = "openai", model = "gpt-5-mini", cost = { input = "0.250", output = 2 } },   # cheap
]
`;

const MODEL = {
  ...{ litellm_provider: 'openai', mode: 'chat', max_input_tokens: 272_000 },
  ...{ max_output_tokens: 128_000, supports_function_calling: true, supports_vision: false },
};

/** LiteLLM's file, in its notation. */
function liteLlm(name: string, rates: Readonly<Record<string, string>>, more: object = {}): string {
  const facts = JSON.stringify({ ...MODEL, ...more }).slice(1, -1);
  const numbers = Object.entries(rates).map(([key, value]) => `"${key}": ${value}`);
  return `{"sample_spec": {"mode": "one of"}, "${name}": {${[facts, ...numbers].join(', ')}}}`;
}

const GPT = {
  input_cost_per_token: '2.5e-07',
  cache_read_input_token_cost: '2.5e-08',
  output_cost_per_token: '2e-06',
};

function modelsDev(model: object, id = 'gpt-6'): string {
  const facts = {
    ...{ id, name: 'GPT-6', reasoning: true, tool_call: true, structured_output: true },
    ...{ release_date: '2026-06-01', modalities: { input: ['text', 'image'], output: ['text'] } },
    ...{ limit: { context: 400_000, output: 128_000 }, cost: { input: 1.25, output: 10 } },
  };
  return JSON.stringify({ openai: { id: 'openai', models: { [id]: { ...facts, ...model } } } });
}

function run(
  text: string,
  names: readonly string[] | undefined,
  more: { margin?: bigint; usd?: bigint; provider?: string } = {},
) {
  const { provider = 'openai', margin = 0n, usd = 1_000_000n } = more;
  const list = readPriceList(text, 'list.json', usdRate(usd)).get(provider) ?? [];
  return suggest(list, {
    ...{ document: plainDocument(CATALOG), upstream: 'openai' },
    ...{ names, margin },
  });
}

const models = (document: unknown) => Object(document).model as readonly Record<string, unknown>[];

describe('a model that the catalog has', () => {
  test('gets no change where the list says the same in other digits', () => {
    const { changes, others } = run(
      liteLlm('gpt-5-mini', { input_cost_per_token: '2.50e-7', output_cost_per_token: '0.000002' }),
      undefined,
    );
    expect({ changes, others }).toEqual({ changes: [], others: [] });
  });

  test('gets the cost of the list, and keeps price, comments and layout', () => {
    const { document, changes, notes } = run(
      liteLlm('gpt-5-mini', { ...GPT, input_cost_per_token: '1.25e-06' }),
      undefined,
    );
    expect(changes).toEqual([
      { slug: 'swift', member: 'cost.input', before: '0.25', after: '1.25' },
      { slug: 'swift', member: 'cost.cached_input', before: undefined, after: '0.025' },
    ]);
    expect(notes).toEqual([]);
    expect(editToml(CATALOG, document)).toBe(
      CATALOG.replace(
        'cost = { input = "0.250", output = 2 }',
        'cost = { input = "1.25", output = "2", cached_input = "0.025" }',
      ),
    );
  });

  test('keeps its windows', () => {
    const cost = { input: 0.25, output: 2 };
    expect(run(modelsDev({ cost }, 'gpt-5-mini'), undefined).changes).toEqual([]);
  });

  test('is named where the list lacks it', () => {
    const { changes, notes, others } = run(liteLlm('gpt-7', GPT), undefined);
    expect({ changes, notes, others }).toEqual({
      changes: [],
      notes: ['gpt-5-mini is not in the list, or has no price there'],
      others: ['gpt-7'],
    });
  });
});

describe('a new model', () => {
  test('of LiteLLM, with tiers, cache writes for an hour and a margin', () => {
    const rates = {
      ...{ input_cost_per_token: '0.000003', output_cost_per_token: '1.5e-05' },
      ...{ cache_read_input_token_cost: '3e-7', cache_creation_input_token_cost: '0.00000375' },
      cache_creation_input_token_cost_above_1hr: '6e-06',
      input_cost_per_token_above_200k_tokens: '6e-06',
      output_cost_per_token_above_200k_tokens: '0.0000225',
      cache_read_input_token_cost_above_200k_tokens: '6e-07',
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: '1.2e-05',
    };
    const { document, notes } = run(liteLlm('openai/claude-x', rates), ['claude-x'], {
      margin: 200_000n,
    });
    const cost = {
      ...{
        input: '3',
        cached_input: '0.3',
        cache_write: '3.75',
        cache_write_1h: '6',
        output: '15',
      },
      tiers: [
        {
          ...{ above_tokens: 200_000, input: '6', cached_input: '0.6', cache_write: '6' },
          ...{ cache_write_1h: '12', output: '22.5' },
        },
      ],
    };
    expect(models(document)[1]).toEqual({
      ...{ slug: 'claude-x', context_window: 272_000, max_output: 128_000, features: ['tools'] },
      price: {
        ...{
          input: '3.6',
          cached_input: '0.36',
          cache_write: '4.5',
          cache_write_1h: '7.2',
          output: '18',
        },
        tiers: [
          {
            ...{ above_tokens: 200_000, input: '7.2', cached_input: '0.72', cache_write: '7.2' },
            ...{ cache_write_1h: '14.4', output: '27' },
          },
        ],
      },
      served_by: [{ upstream: 'openai', model: 'claude-x', cost }],
    });
    expect(notes).toEqual(['claude-x: a tier of the list lacks cache_write: check it']);
  });

  test.each([
    [
      'tiers',
      { tiers: [{ input: 2.5, output: 15, tier: { type: 'context', size: 272_000 } }] },
      272_000,
    ],
    ['context_over_200k', { context_over_200k: { input: 2.5, output: 15 } }, 200_000],
  ])('of models.dev, with %s', (_, tiers, above) => {
    const cost = { input: 1.25, output: 10, ...tiers };
    const { document } = run(modelsDev({ cost }), ['gpt-6']);
    const rates = {
      ...{ input: '1.25', output: '10' },
      tiers: [{ above_tokens: above, input: '2.5', output: '15' }],
    };
    expect(models(document)[1]).toEqual({
      ...{ slug: 'gpt-6', display_name: 'GPT-6', context_window: 400_000 },
      ...{ max_output: 128_000, features: ['tools', 'json', 'vision', 'reasoning'], price: rates },
      served_by: [{ upstream: 'openai', model: 'gpt-6', cost: rates }],
    });
  });

  test('makes a catalog that is valid', () => {
    const { document } = run(liteLlm('gpt-7', GPT), ['gpt-7'], { margin: 333_333n });
    const text = editToml(CATALOG, document) ?? '';
    const { models: loaded } = loadCatalog({ text, environment: {}, nowMs: 0 });
    expect(loaded.map(({ slug }) => slug)).toEqual(['swift', 'gpt-7']);
    expect(text.startsWith(CATALOG.trimEnd())).toBe(true);
  });

  const withTiers = liteLlm('gpt-7', {
    ...GPT,
    input_cost_per_token_above_272k_tokens: '5e-07',
    output_cost_per_token_above_272k_tokens: '3e-06',
    cache_read_input_token_cost_above_272k_tokens: '5e-08',
  });
  test('makes a catalog with tiers that is valid', () => {
    const text = editToml(CATALOG, run(withTiers, ['gpt-7']).document) ?? '';
    const { models: loaded } = loadCatalog({ text, environment: {}, nowMs: 0 });
    expect(loaded[1]?.servedBy[0]?.cost?.terms?.tiers?.map((tier) => tier.aboveTokens)).toEqual([
      272_000,
    ]);
  });

  test('replaces no model whose slug is the same', () => {
    const text = editToml(CATALOG, run(liteLlm('swift', GPT), ['swift']).document) ?? '';
    const load = () => loadCatalog({ text, environment: {}, nowMs: 0 });
    expect(text.startsWith(CATALOG.trimEnd())).toBe(true);
    expect(thrownBy(CatalogError, load)?.message).toContain('model[1].slug');
  });

  test.each([
    [
      'zero',
      { ...GPT, cache_creation_input_token_cost: '0' },
      'cache_write is 0: check that it is free',
    ],
    [
      'digits beyond the catalog',
      { ...GPT, input_cost_per_token: '9.999999999999999e-07' },
      'input of 9.999999999999999e-07 USD is rounded to 12 decimals',
    ],
  ])('has a note of %s', (_, rates, note) => {
    expect(run(liteLlm('gpt-7', rates), ['gpt-7']).notes).toContain(`gpt-7: ${note}`);
  });
});

test('amounts follow the worth of a service token', () => {
  const { document, notes } = run(liteLlm('gpt-7', GPT), ['gpt-7'], { usd: 3_000_000n });
  expect(models(document)[1]?.['served_by']).toEqual([
    {
      ...{ upstream: 'openai', model: 'gpt-7' },
      cost: { input: '0.083333333333', cached_input: '0.008333333333', output: '0.666666666667' },
    },
  ]);
  expect(notes).toContain('gpt-7: input of 2.5e-07 USD is rounded to 12 decimals');
});

test('law: every rate of up to 12 decimals is exact, in every notation of a number', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 17n }), fc.nat(6), (digits, shift) => {
      const text = `${digits}e-${18 - shift}`;
      const { document, notes } = run(
        liteLlm('gpt-7', { input_cost_per_token: text, output_cost_per_token: text }),
        ['gpt-7'],
      );
      const [{ cost }] = Object(models(document)[1]).served_by as [{ cost: { input: string } }];
      const [whole, fraction = ''] = cost.input.split('.');
      expect(BigInt(`${whole}${fraction.padEnd(12, '0')}`)).toBe(digits * 10n ** BigInt(shift));
      expect(notes).toEqual([]);
    }),
  );
});

describe('a price list', () => {
  test('leaves out models without text, a price or a window, and deprecated ones', () => {
    const without = [
      liteLlm('a', GPT, { mode: 'embedding' }),
      liteLlm('a', { input_cost_per_token: '1' }),
      liteLlm('a', GPT, { max_input_tokens: null }),
      modelsDev({ modalities: { input: ['text'], output: ['image'] } }),
      modelsDev({ status: 'deprecated' }),
      modelsDev({ cost: undefined }),
      '[]',
      '{',
    ];
    const message = 'list.json: is neither api.json of models.dev';
    for (const text of without) {
      expect(
        thrownBy(CatalogError, () => readPriceList(text, 'list.json', usdRate(1n)))?.message,
      ).toContain(message);
    }
  });
});
