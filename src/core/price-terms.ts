// A price as named texts, and its terms (what it has beyond its four rates) as canonical JSON. The
// books, the receipts, the ledger thread and the version of a price use the same form, so equal
// terms have equal texts.

import { FACTOR_DECIMALS } from './exact.ts';
import { isObject, parseJson } from './json.ts';
import { formatDecimal, PICO_DECIMALS, type Pico, parseDecimal, pico } from './money.ts';
import type { CacheRates, Price, PriceTerms, PriceTier, Rates, TierFactor } from './price.ts';

const BASE_NAMES = [
  ['input', 'input', 'input'],
  ['cachedInput', 'cached_input', 'cachedInput'],
  ['cacheWrite', 'cache_write', 'cacheWrite'],
  ['output', 'output', 'output'],
] as const;

const CACHE_NAMES = [
  ['cachedInputExplicit', 'cached_input_explicit', 'cachedInput'],
  ['cacheWriteLong', 'cache_write_1h', 'cacheWrite'],
] as const;

/**
 * Each rate's member of a price, its name everywhere else, and the rate that applies where a price
 * does not set it. In the order of canonical texts.
 */
export const RATE_NAMES = [...BASE_NAMES, ...CACHE_NAMES] as const;

type BaseName = (typeof BASE_NAMES)[number][1];
type CacheName = (typeof CACHE_NAMES)[number][1];

type RateTexts = { readonly [Name in BaseName]: string } & {
  readonly [Name in CacheName]?: string;
};

/** The rates that are there, by their names. */
export function rateTexts<Given extends Partial<Rates & CacheRates>>(rates: Given, show = decimal) {
  const texts = RATE_NAMES.flatMap(([member, name]) => {
    const rate: Pico | undefined = rates[member];
    return rate === undefined ? [] : [[name, show(rate)] as const];
  });
  return Object.fromEntries(texts) as Given extends Rates ? RateTexts : Partial<RateTexts>;
}

const decimal = (rate: Pico): string => formatDecimal(rate, PICO_DECIMALS);

/** All of a price, for JSON. */
export function priceTexts(price: Price) {
  const { version, terms } = price;
  return { version, ...rateTexts(price), ...(terms && namedTerms(terms)) };
}

/** Caches texts: terms are immutable, and each hold compares those of its price. */
const knownTerms = new WeakMap<PriceTerms, string>();

/** Canonical JSON, with members only for terms that the price has. */
export function termsText(terms: PriceTerms): string {
  return knownTerms.getOrInsertComputed(terms, (each) => JSON.stringify(namedTerms(each)));
}

function namedTerms({ tiers, serviceTiers, ...rates }: PriceTerms) {
  return {
    ...rateTexts(rates),
    ...(tiers && {
      tiers: tiers.map((tier) => ({ above_tokens: tier.aboveTokens, ...rateTexts(tier) })),
    }),
    ...(serviceTiers && { service_tiers: factorTexts(serviceTiers) }),
  };
}

/** The text of a price's terms; null where it has none. */
export function termsOfPrice({ terms }: Price): string | null {
  return terms === undefined || terms === null ? null : termsText(terms);
}

export function factorTexts(factors: readonly TierFactor[]): Readonly<Record<string, string>> {
  return Object.fromEntries(factors.map(({ name, factor }) => [name, factorText(factor)]));
}

export function factorText(factor: number): string {
  return formatDecimal(BigInt(factor), FACTOR_DECIMALS);
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
 * Reads what `priceTexts` returned. A wrong type throws, or changes the text when the price is
 * written again.
 */
export function readPrice(value: Members): Price {
  const { version } = value;
  if (typeof version !== 'string') throw new TypeError('not a version');
  const terms = termsOf(value);
  return { version, ...(ratesOf(value, BASE_NAMES) as Rates), ...(terms && { terms }) };
}

/** The terms among the members of a price; undefined if there are none. */
function termsOf(value: Members): PriceTerms | undefined {
  const { tiers, service_tiers: factors } = value;
  const terms: PriceTerms = {
    ...cacheRatesOf(value),
    ...(tiers === undefined ? {} : { tiers: (tiers as Members[]).map(tierOf) }),
    ...(factors === undefined ? {} : { serviceTiers: factorsOf(factors as Members) }),
  };
  return Object.keys(terms).length === 0 ? undefined : terms;
}

function tierOf(value: Members): PriceTier {
  const rates = { ...(ratesOf(value, BASE_NAMES) as Rates), ...cacheRatesOf(value) };
  return { aboveTokens: Number(value['above_tokens']), ...rates };
}

function cacheRatesOf(value: Members): CacheRates {
  return ratesOf(
    value,
    CACHE_NAMES.filter(([, name]) => value[name] !== undefined),
  );
}

function ratesOf(value: Members, names: readonly (typeof RATE_NAMES)[number][]): object {
  return Object.fromEntries(
    names.map(([member, name]) => [member, pico(decimalOf(value[name], PICO_DECIMALS))]),
  );
}

function factorsOf(value: Members): TierFactor[] {
  return Object.entries(value).map(([name, factor]) => ({
    name,
    factor: Number(decimalOf(factor, FACTOR_DECIMALS)),
  }));
}

function decimalOf(value: unknown, decimals: number): bigint {
  const parsed = typeof value === 'string' ? parseDecimal(value, decimals) : undefined;
  if (parsed === undefined) throw new TypeError('not a decimal');
  return parsed;
}
