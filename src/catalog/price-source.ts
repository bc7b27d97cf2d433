// Reads the models of a public price list that the operator has downloaded. Amounts are read from
// the digits of the file. Sources, read on 2026-11-28:
// - models.dev/api.json: packages/core/src/schema.ts of anomalyco/models.dev. USD for a million
//   tokens; `tiers` name a prompt length, `context_over_200k` is the older form of one tier.
// - LiteLLM's model_prices_and_context_window.json: its `sample_spec`. USD for a token; a tier is
//   the name of a rate with `_above_200k_tokens`, one-hour cache writes with `_above_1hr`.

import { readDecimal } from '../core/decimal.ts';
import { isObject } from '../core/json.ts';
import { parseJsonNumbers } from '../core/json-numbers.ts';
import { PICO_DECIMALS } from '../core/money.ts';
import { listAt, memberOf, tableAt, textAt } from './document.ts';
import { CatalogError } from './source.ts';

export const RATES = ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'] as const;

/** In 10⁻¹² USD for a million tokens. Absent where the list has none. */
type RateNames = Readonly<Record<(typeof RATES)[number], string>>;

/** In 10⁻¹² USD for a million tokens. Absent where the list has none. */
export type ListedRates = { readonly [Name in keyof RateNames]?: bigint };

export type PricedModel = {
  readonly provider: string;
  /** The provider's own name for it. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly created?: string | undefined;
  readonly window: number;
  /** LiteLLM has the limit of the prompt alone. */
  readonly isPromptWindow: boolean;
  readonly maxOutput: number;
  readonly features: readonly string[];
  readonly rates: ListedRates;
  readonly tiers: readonly (ListedRates & { readonly aboveTokens: number })[];
  readonly notes: readonly string[];
};

/** Throws `CatalogError` for another file. Models without text or a price are left out. */
export function readPriceList(text: string, label: string) {
  const document = parseJsonNumbers(text);
  const models = (isObject(document) ? Object.entries(document) : []).flatMap(([key, entry]) => {
    const provider = textAt(entry, 'litellm_provider');
    if (provider !== undefined) return [fromLiteLlm(provider, key, entry)];
    return tableAt(entry, 'models').map(([name, model]) => fromModelsDev(key, name, model));
  });
  const known = models.filter(({ window, maxOutput, rates }) => {
    const isPriced = rates.input !== undefined && rates.output !== undefined;
    return isPriced && window > 0 && maxOutput > 0;
  });
  if (known.length > 0) return Map.groupBy(known, ({ provider }) => provider);
  const kinds = 'api.json of models.dev nor model_prices_and_context_window.json of LiteLLM';
  throw new CatalogError([`${label}: is neither ${kinds}`]);
}

const MODELS_DEV: RateNames = {
  ...{ input: 'input', cached_input: 'cache_read', cache_write: 'cache_write' },
  ...{ cache_write_1h: 'cache_write_1h', output: 'output' },
};

function fromModelsDev(provider: string, name: string, model: unknown): PricedModel {
  const [cost, limit] = [memberOf(model, 'cost'), memberOf(model, 'limit')];
  const modalities = memberOf(model, 'modalities');
  const isSold =
    textAt(model, 'status') !== 'deprecated' && listAt(modalities, 'output').includes('text');
  const tiers = listAt(cost, 'tiers').map((tier) => {
    return [countAt(memberOf(tier, 'tier'), 'size'), tier] as const;
  });
  const older = memberOf(cost, 'context_over_200k');
  if (tiers.length === 0 && isObject(older)) tiers.push([200_000, older]);
  const notes: string[] = [];
  return {
    ...{ provider, name, title: textAt(model, 'name'), created: textAt(model, 'release_date') },
    ...{ window: countAt(limit, 'context'), isPromptWindow: false },
    maxOutput: isSold ? countAt(limit, 'output') : 0,
    features: featuresOf({
      ...{ tools: memberOf(model, 'tool_call'), json: memberOf(model, 'structured_output') },
      vision: listAt(modalities, 'input').includes('image'),
      reasoning: memberOf(model, 'reasoning'),
    }),
    rates: ratesAt(cost, MODELS_DEV, '', PICO_DECIMALS, notes),
    tiers: inOrder(tiers, (tier) => ratesAt(tier, MODELS_DEV, '', PICO_DECIMALS, notes)),
    notes,
  };
}

const LITELLM: RateNames = {
  input: 'input_cost_per_token',
  cached_input: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
  output: 'output_cost_per_token',
};

function fromLiteLlm(provider: string, key: string, model: unknown): PricedModel {
  const isSold = ['chat', 'responses'].includes(textAt(model, 'mode') ?? '');
  const tiers = Object.entries(Object(model)).flatMap(([name, value]) => {
    const [, suffix, thousands] = /^input_cost_per_token(_above_(\d+)k_tokens)$/.exec(name) ?? [];
    return suffix === undefined || value === null
      ? []
      : [[Number(thousands) * 1_000, suffix] as const];
  });
  const notes: string[] = [];
  const ratesOf = (suffix: string) => ratesAt(model, LITELLM, suffix, PICO_DECIMALS + 6, notes);
  return {
    provider,
    name: key.startsWith(`${provider}/`) ? key.slice(provider.length + 1) : key,
    ...{ window: countAt(model, 'max_input_tokens'), isPromptWindow: true },
    maxOutput: isSold ? countAt(model, 'max_output_tokens') : 0,
    features: featuresOf({
      tools: memberOf(model, 'supports_function_calling'),
      json: memberOf(model, 'supports_response_schema'),
      vision: memberOf(model, 'supports_vision'),
      reasoning: memberOf(model, 'supports_reasoning'),
    }),
    ...{ rates: ratesOf(''), tiers: inOrder(tiers, ratesOf), notes },
  };
}

function inOrder<Tier>(
  tiers: readonly (readonly [aboveTokens: number, tier: Tier])[],
  ratesOf: (tier: Tier) => ListedRates,
): PricedModel['tiers'] {
  return tiers
    .map(([aboveTokens, tier]) => ({ aboveTokens, ...ratesOf(tier) }))
    .toSorted((a, b) => a.aboveTokens - b.aboveTokens);
}

function ratesAt(
  model: unknown,
  names: RateNames,
  suffix: string,
  decimals: number,
  notes: string[],
): ListedRates {
  const rates = RATES.flatMap((rate) => {
    const name = `${names[rate]}${suffix}`;
    const text = textAt(model, name);
    const read = readDecimal(text ?? '', decimals);
    if (read === undefined || read.value < 0n) return [];
    if (!read.isExact) notes.push(`${name} = ${text} is rounded to ${PICO_DECIMALS} decimals`);
    if (read.value === 0n) notes.push(`${name} is 0: check that it is free`);
    return [[rate, read.value] as const];
  });
  return Object.fromEntries(rates);
}

function featuresOf(features: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(features).filter((name) => features[name] === true);
}

function countAt(value: unknown, key: string): number {
  const read = readDecimal(textAt(value, key) ?? '', 0);
  return read?.isExact === true && read.value > 0n ? Number(read.value) : 0;
}
