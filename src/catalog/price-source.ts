// Reads the models of a public price list that the operator has downloaded, and writes their costs as
// the catalog does, from the digits of the file. Sources, read on 2026-11-28:
// - models.dev/api.json: packages/core/src/schema.ts of anomalyco/models.dev. USD for a million
//   tokens; `tiers` name a prompt length, `context_over_200k` is the older form of one tier.
// - LiteLLM's model_prices_and_context_window.json: its `sample_spec`. USD for a token; a tier is
//   the name of a rate with `_above_200k_tokens`, one-hour cache writes with `_above_1hr`.

import { isObject, parseJsonNumbers } from '../core/json.ts';
import {
  formatDecimal,
  PICO_DECIMALS,
  parseDecimal,
  readNumber,
  type UsdRate,
} from '../core/money.ts';
import { plainly } from '../core/sentence.ts';
import { listAt, memberOf, tableAt, textAt } from './document.ts';
import type { CatalogEntry } from './entries.ts';
import { CatalogError } from './source.ts';

/** The catalog's name of each rate, that of models.dev, and that of LiteLLM. */
const RATES = [
  ['input', 'input', 'input_cost_per_token'],
  ['cached_input', 'cache_read', 'cache_read_input_token_cost'],
  ['cache_write', 'cache_write', 'cache_creation_input_token_cost'],
  ['cache_write_1h', 'cache_write_1h', 'cache_creation_input_token_cost_above_1hr'],
  ['output', 'output', 'output_cost_per_token'],
] as const;

/** By provider. Throws `CatalogError` where no model has text, limits and a price. */
export function readPriceList(text: string, label: string, usdPerMillion: UsdRate) {
  const document = parseJsonNumbers(text);
  const models = (isObject(document) ? Object.entries(document) : []).flatMap(([key, entry]) => {
    const provider = textAt(entry, 'litellm_provider');
    if (provider === undefined) {
      return tableAt(entry, 'models').flatMap(([name, model]) =>
        pricedModel(model, key, name, usdPerMillion * 1_000_000n),
      );
    }
    const name = key.startsWith(`${provider}/`) ? key.slice(provider.length + 1) : key;
    return pricedModel(asModelsDev(entry), provider, name, usdPerMillion);
  });
  if (models.length > 0) return Map.groupBy(models, ({ provider }) => provider);
  throw new CatalogError([
    plainly(
      `${label}: is neither api.json of models.dev nor model_prices_and_context_window.json of LiteLLM`,
    ),
  ]);
}

/** A model of LiteLLM in the members of models.dev. Its rates stay those of a token. */
function asModelsDev(model: unknown) {
  const at = (name: string) => memberOf(model, name);
  const ratesOf = (suffix: string) =>
    Object.fromEntries(RATES.map(([, name, own]) => [name, at(`${own}${suffix}`)]));
  const tiers = Object.keys(Object(model)).flatMap((name) => {
    const [, suffix, thousands] = /^input_cost_per_token(_above_(\d+)k_tokens)$/.exec(name) ?? [];
    const isTier = suffix !== undefined && textAt(model, name) !== undefined;
    return isTier ? [{ ...ratesOf(suffix), tier: { size: `${thousands}000` } }] : [];
  });
  const isText = ['chat', 'responses'].includes(textAt(model, 'mode') ?? '');
  return {
    cost: { ...ratesOf(''), tiers },
    // The list has the longest prompt in place of the window.
    limit: { context: at('max_input_tokens'), output: at('max_output_tokens') },
    modalities: {
      input: at('supports_vision') === true ? ['image'] : [],
      output: isText ? ['text'] : [],
    },
    tool_call: at('supports_function_calling'),
    reasoning: at('supports_reasoning'),
    structured_output: at('supports_response_schema'),
  };
}

export type PricedModel = ReturnType<typeof pricedModel>[number];

/** `divisor` makes 10⁻¹² service tokens of rates in 10⁻²⁴ USD. */
function pricedModel(model: unknown, provider: string, name: string, divisor: bigint) {
  const [cost, limit] = [memberOf(model, 'cost'), memberOf(model, 'limit')];
  const window = countAt(limit, 'context');
  const longest = Math.min(countAt(limit, 'output'), window);
  const modalities = memberOf(model, 'modalities');
  const isText = listAt(modalities, 'output').includes('text');
  const notes: string[] = [];
  const base = ratesOf(cost);
  const isPriced = base.has('input') && base.has('output');
  if (!isText || !isPriced || longest === 0 || textAt(model, 'status') === 'deprecated') return [];
  const older = memberOf(cost, 'context_over_200k');
  const tiers = listAt(cost, 'tiers').map((tier) => ({
    above_tokens: countAt(memberOf(tier, 'tier'), 'size'),
    ...tierOf(tier),
  }));
  if (tiers.length === 0 && isObject(older))
    tiers.push({ above_tokens: 200_000, ...tierOf(older) });
  tiers.sort((a, b) => a.above_tokens - b.above_tokens);
  const title = textAt(model, 'name');
  /** What a new entry of the catalog says besides its slug, price and upstream. */
  const facts = {
    ...(title === undefined ? {} : { display_name: title }),
    context_window: window,
    max_output: longest,
    features: [
      ...(memberOf(model, 'tool_call') === true ? ['tools'] : []),
      ...(memberOf(model, 'structured_output') === true ? ['json'] : []),
      ...(listAt(modalities, 'input').includes('image') ? ['vision'] : []),
      ...(memberOf(model, 'reasoning') === true ? ['reasoning'] : []),
    ],
  };
  const rates = { ...textsOf(base), ...(tiers.length === 0 ? {} : { tiers }) };
  return [{ provider, name, facts, cost: rates, notes }];

  function ratesOf(table: unknown): Map<string, bigint> {
    const rates = RATES.flatMap(([rate, member]): [string, bigint][] => {
      const text = textAt(table, member);
      const usd = readNumber(text ?? '', 24);
      if (usd === undefined || usd.value < 0n) return [];
      const isExact = usd.isExact && usd.value % divisor === 0n;
      if (!isExact) notes.push(`${rate} of ${text} USD is rounded to ${PICO_DECIMALS} decimals`);
      if (usd.value === 0n) notes.push(`${rate} is 0: check that it is free`);
      return [[rate, (usd.value + divisor / 2n) / divisor]];
    });
    return new Map(rates);
  }

  /** A tier sets every rate that the price sets: where the list has none, the dearest one. */
  function tierOf(table: unknown): CatalogEntry {
    const own = ratesOf(table);
    const input = own.get('input') ?? 0n;
    const missing = [...base.keys()].filter((rate) => !own.has(rate));
    if (missing.length > 0) notes.push(`a tier of the list lacks ${missing.join(', ')}: check it`);
    const rates = [...base].map(([rate, value]) => {
      return [rate, own.get(rate) ?? (value > input ? value : input)] as const;
    });
    return textsOf(new Map(rates));
  }
}

function textsOf(rates: ReadonlyMap<string, bigint>): CatalogEntry {
  const texts = [...rates].map(([rate, value]) => [rate, formatDecimal(value, PICO_DECIMALS)]);
  return Object.fromEntries(texts);
}

function countAt(value: unknown, key: string): number {
  const count = Number(parseDecimal(textAt(value, key) ?? '', 0) ?? 0n);
  return Math.max(count, 0);
}
