// The terms of a price as text: what a price has beyond its four rates. The books, the receipts, the
// ledger thread and the version of a price use the same canonical form, so equal terms have equal
// texts.

import { FACTOR_DECIMALS } from './exact.ts';
import { isObject, parseJson } from './json.ts';
import { formatDecimal, PICO_DECIMALS, type Pico, parseDecimal, pico } from './money.ts';
import type { CacheRates, Price, PriceTerms, PriceTier, TierFactor } from './price.ts';

/** Canonical JSON, with members only for terms that the price has. */
export function termsText({ tiers, serviceTiers, ...rates }: PriceTerms): string {
  const members = cacheMembers(rates);
  if (tiers !== undefined) members.push(`"tiers":[${tiers.map(tierText).join(',')}]`);
  if (serviceTiers !== undefined) {
    const factors = serviceTiers.map(({ name, factor }) => {
      return `${JSON.stringify(name)}:"${factorText(factor)}"`;
    });
    members.push(`"service_tiers":{${factors.join(',')}}`);
  }
  return `{${members.join(',')}}`;
}

/** The text of a price's terms; null where it has none. */
export function termsOfPrice({ terms }: Price): string | null {
  return terms === undefined || terms === null ? null : termsText(terms);
}

export function factorText(factor: number): string {
  return formatDecimal(BigInt(factor), FACTOR_DECIMALS);
}

function tierText({ aboveTokens, input, cachedInput, cacheWrite, output, ...rates }: PriceTier) {
  const members = [
    `"above_tokens":${aboveTokens}`,
    rateMember('input', input),
    rateMember('cached_input', cachedInput),
    rateMember('cache_write', cacheWrite),
    rateMember('output', output),
    ...cacheMembers(rates),
  ];
  return `{${members.join(',')}}`;
}

function cacheMembers({ cachedInputExplicit, cacheWriteLong }: CacheRates): string[] {
  return [
    ...(cachedInputExplicit === undefined
      ? []
      : [rateMember('cached_input_explicit', cachedInputExplicit)]),
    ...(cacheWriteLong === undefined ? [] : [rateMember('cache_write_1h', cacheWriteLong)]),
  ];
}

function rateMember(name: string, rate: Pico): string {
  return `"${name}":"${formatDecimal(rate, PICO_DECIMALS)}"`;
}

/** Parsed JSON of any type. */
type Members = { readonly [name: string]: unknown };

/** Reads what `termsText` wrote. Throws for a text of another shape. */
export function readTerms(text: string): PriceTerms {
  const value = parseJson(text);
  const terms = isObject(value) ? termsOf(value) : undefined;
  if (terms === undefined || termsText(terms) !== text)
    throw new TypeError('not the terms of a price');
  return terms;
}

/**
 * The terms among the members of a price; undefined if there are none. A wrong type throws, or
 * changes the text when the terms are written again.
 */
export function termsOf(value: Members): PriceTerms | undefined {
  const { tiers, service_tiers: factors } = value;
  const terms: PriceTerms = {
    ...cacheRatesOf(value),
    ...(tiers === undefined ? {} : { tiers: (tiers as Members[]).map(tierOf) }),
    ...(factors === undefined ? {} : { serviceTiers: factorsOf(factors as Members) }),
  };
  return Object.keys(terms).length === 0 ? undefined : terms;
}

function tierOf(value: Members): PriceTier {
  return {
    aboveTokens: Number(value['above_tokens']),
    input: rateOf(value['input']),
    cachedInput: rateOf(value['cached_input']),
    cacheWrite: rateOf(value['cache_write']),
    output: rateOf(value['output']),
    ...cacheRatesOf(value),
  };
}

function cacheRatesOf(value: Members): CacheRates {
  const { cached_input_explicit: explicit, cache_write_1h: long } = value;
  return {
    ...(explicit === undefined ? {} : { cachedInputExplicit: rateOf(explicit) }),
    ...(long === undefined ? {} : { cacheWriteLong: rateOf(long) }),
  };
}

function factorsOf(value: Members): TierFactor[] {
  return Object.entries(value).map(([name, factor]) => ({
    name,
    factor: Number(decimalOf(factor, FACTOR_DECIMALS)),
  }));
}

function rateOf(value: unknown): Pico {
  return pico(decimalOf(value, PICO_DECIMALS));
}

function decimalOf(value: unknown, decimals: number): bigint {
  const parsed = typeof value === 'string' ? parseDecimal(value, decimals) : undefined;
  if (parsed === undefined) throw new TypeError('not a decimal');
  return parsed;
}
