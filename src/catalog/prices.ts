// A model's prices: rules that the schema cannot express, and the conversion to a price book.

import { createHash } from 'node:crypto';
import { FACTOR_DECIMALS, FACTOR_ONE, PICO_PER_MICRO } from '../core/exact.ts';
import { parseInstant } from '../core/instant.ts';
import {
  AMOUNT_MAX,
  formatDecimal,
  PICO_DECIMALS,
  type Pico,
  parseDecimal,
  pico,
} from '../core/money.ts';
import type { CacheRates, Price, PriceTerms, Rates, TierFactor } from '../core/price.ts';
import {
  type Hours,
  overlap,
  type PriceBook,
  type PriceWindow,
  SINCE_EVER,
  WEEKDAYS,
} from '../core/price-book.ts';
import { termsText } from '../core/price-terms.ts';
import { type Sentence, say } from '../core/sentence.ts';
import { SERVICE_TIER } from '../core/usage-details.ts';
import { listAt, memberOf, sound } from './document.ts';
import {
  type PeriodEntry,
  PeriodSchema,
  PriceSchema,
  type RatesEntry,
  type TierEntry,
  type WindowEntry,
  WindowSchema,
} from './price-schema.ts';
import { type ModelEntry, ModelSchema, type Problem, tomlKey } from './schema.ts';

/**
 * The most context windows that one answer may cost. An upstream's prompt count is accepted up to
 * ten times our own and a little more (`core/usage.ts`), plus the output.
 */
const WINDOWS_CHARGED = 16n;

/** All broken rules in the prices of a model of any shape. */
export function priceProblems(model: unknown, path: string): Problem[] {
  const first = memberOf(model, 'price');
  const later = listAt(model, 'prices');
  const { context_window: contextWindow = 1 } = sound(ModelSchema, model);
  const ofPeriod = (period: unknown, place: string) => [
    ...ratesProblems(sound(PriceSchema, period), place, contextWindow),
    ...windowProblems(period, place, contextWindow),
  ];
  return [
    ...ofPeriod(first, `${path}.price`),
    ...later.flatMap((period, index) => ofPeriod(period, `${path}.prices[${index}]`)),
    ...orderProblems(
      later.map((period) => sound(PeriodSchema, period)),
      `${path}.prices`,
    ),
  ];
}

function ratesProblems(rates: Partial<RatesEntry>, path: string, contextWindow: number): Problem[] {
  const factors = Object.values(rates.service_tiers ?? {}).map(factorOf);
  const factor = BigInt(Math.max(FACTOR_ONE, ...factors));
  return [
    ...rowProblems(rates, path, contextWindow, factor),
    ...(rates.tiers ?? []).flatMap((tier, index) =>
      rowProblems(tier, `${path}.tiers[${index}]`, contextWindow, factor),
    ),
    ...termProblems(rates, path),
  ];
}

const CACHE_READS = ['cached_input', 'cached_input_explicit'] as const;
const CACHE_WRITES = ['cache_write', 'cache_write_1h'] as const;
type RateName = 'input' | (typeof CACHE_READS | typeof CACHE_WRITES)[number] | 'output';

const DEAR_READ = say('must not be above input: a hold covers the prompt at that price');

/** No answer may cost more than the ledger can book, or it could not be booked at all. */
function rowProblems(
  rates: Partial<RatesEntry>,
  path: string,
  contextWindow: number,
  factor: bigint,
): Problem[] {
  const problemsAbove = (names: readonly RateName[], most: bigint, text: Sentence) =>
    names.flatMap((name) => {
      const { [name]: rate } = rates;
      return rate === undefined || rateOf(rate) <= most ? [] : [{ path: `${path}.${name}`, text }];
    });
  const most = (AMOUNT_MAX * BigInt(PICO_PER_MICRO * FACTOR_ONE)) / factor;
  const limit = most / (WINDOWS_CHARGED * BigInt(contextWindow));
  const text = say(
    'must not be above {most} with this context_window: an answer could cost more than the books can hold',
    { most: formatDecimal(limit, PICO_DECIMALS) },
  );
  const { input } = rates;
  return [
    ...problemsAbove(['input', ...CACHE_WRITES, 'output'], limit, text),
    ...(input === undefined ? [] : problemsAbove(CACHE_READS, rateOf(input), DEAR_READ)),
  ];
}

/** Tiers and service tiers, of a price or of an upstream's cost. */
export function termProblems(rates: Partial<RatesEntry>, path: string): Problem[] {
  const { tiers = [], service_tiers: factors = {} } = rates;
  return [
    ...tiers.flatMap((tier, index) => tierProblems(rates, tiers[index - 1], tier, index, path)),
    ...Object.entries(factors).flatMap(([name, factor]) => {
      const place = `${path}.service_tiers.${tomlKey(name)}`;
      if (!SERVICE_TIER.test(name)) return [{ path: place, text: SERVICE_TIER_EXPECTS }];
      if (factorOf(factor) <= FACTOR_MAX * FACTOR_ONE) return [];
      return [{ path: place, text: say('must not be above {most}', { most: FACTOR_MAX }) }];
    }),
  ];
}

const SERVICE_TIER_EXPECTS = say(
  'must have a name that is 2 to 32 of a-z, 0-9, "_" and "-", beginning with a letter',
);
const FACTOR_MAX = 100;

/**
 * Every rate that the price sets, each tier sets too. The defaults would make a tier's cache
 * writes, for one, cheaper than the upstream's.
 */
function tierProblems(
  rates: Partial<RatesEntry>,
  before: TierEntry | undefined,
  tier: TierEntry,
  index: number,
  path: string,
): Problem[] {
  const place = `${path}.tiers[${index}]`;
  const problems = [...CACHE_READS, ...CACHE_WRITES].flatMap((name) => {
    if (rates[name] === undefined || tier[name] !== undefined) return [];
    const text = say('is missing; a tier sets every rate that {path} sets', { path });
    return [{ path: `${place}.${name}`, text }];
  });
  if (before === undefined || tier.above_tokens > before.above_tokens) return problems;
  const text = say('must be above {bound}, the bound of the tier before it', {
    bound: String(before.above_tokens),
  });
  return [...problems, { path: `${place}.above_tokens`, text }];
}

function windowProblems(period: unknown, path: string, contextWindow: number): Problem[] {
  const earlier: { readonly path: string; readonly hours: Hours }[] = [];
  return listAt(period, 'windows').flatMap((entry, index) => {
    const place = `${path}.windows[${index}]`;
    const window = sound(WindowSchema, entry);
    const problems = ratesProblems(window, place, contextWindow);
    const { from, to, days } = window;
    const misshapen = days === undefined && memberOf(entry, 'days') !== undefined;
    if (from === undefined || to === undefined || misshapen) return problems;
    const hours = toHours({ from, to, ...(days === undefined ? {} : { days }) });
    if (hours.fromMinute === hours.toMinute) {
      const text = say('must not be the same as from; a whole day is from "00:00" to "24:00"');
      return [...problems, { path: `${place}.to`, text }];
    }
    const met = earlier.find((other) => overlap(other.hours, hours));
    earlier.push({ path: place, hours });
    if (met === undefined) return problems;
    const text = say('overlaps {other}; at each time one window at most may be open', {
      other: met.path,
    });
    return [...problems, { path: place, text }];
  });
}

function orderProblems(periods: readonly Partial<PeriodEntry>[], path: string): Problem[] {
  let last: { readonly path: string; readonly ms: number } | undefined;
  return periods.flatMap(({ valid_from: text }, index) => {
    const place = `${path}[${index}].valid_from`;
    if (text === undefined) return [];
    const ms = parseInstant(text);
    if (ms === undefined) {
      return [{ path: place, text: say('must be an instant that the calendar has') }];
    }
    const before = last;
    if (before !== undefined && ms <= before.ms) {
      return [{ path: place, text: say('must be later than {other}', { other: before.path }) }];
    }
    last = { path: place, ms };
    return [];
  });
}

/** The price book of a valid entry. */
export function toPriceBook({ slug, price, prices = [] }: ModelEntry): PriceBook {
  const toPeriod = (entry: RatesEntry, validFromMs: number) => ({
    validFromMs,
    price: toPrice(slug, entry),
    windows: (entry.windows ?? []).map(
      (window): PriceWindow => ({ ...toHours(window), price: toPrice(slug, window) }),
    ),
  });
  return [
    toPeriod(price, SINCE_EVER),
    ...prices.map((entry) => toPeriod(entry, parseInstant(entry.valid_from) ?? SINCE_EVER)),
  ];
}

/** The version is a digest of the price, so that every process computes the same one. */
export function toPrice(slug: string, entry: Omit<RatesEntry, 'windows'>): Price {
  const { input, cachedInput, cacheWrite, output, ...cache } = toRates(entry);
  const { tiers, service_tiers: factors } = entry;
  const terms: PriceTerms = {
    ...cache,
    ...(tiers && {
      tiers: tiers.map((tier) => ({ aboveTokens: tier.above_tokens, ...toRates(tier) })),
    }),
    ...(factors && { serviceTiers: toFactors(factors) }),
  };
  const hasTerms = Object.keys(terms).length > 0;
  // Cache writes and terms had no price at first: a price without its own keeps its version.
  const parts = [input, cachedInput, output, ...(cacheWrite === input ? [] : [cacheWrite])];
  const amounts = parts.map((each) => formatDecimal(each, PICO_DECIMALS));
  const digest = createHash('sha256')
    .update([slug, ...amounts, ...(hasTerms ? [termsText(terms)] : [])].join('\n'))
    .digest('hex');
  const rates = { input, cachedInput, cacheWrite, output };
  return { version: `price_${digest.slice(0, 16)}`, ...rates, ...(hasTerms ? { terms } : {}) };
}

/** A rate that equals its default is left out of the terms. */
function toRates(entry: TierEntry | Omit<RatesEntry, 'windows'>): Rates & CacheRates {
  const { input, cached_input: read = input, cache_write: write = input, output } = entry;
  const { cached_input_explicit: explicit = read, cache_write_1h: long = write } = entry;
  return {
    input: rateOf(input),
    cachedInput: rateOf(read),
    cacheWrite: rateOf(write),
    output: rateOf(output),
    ...(rateOf(explicit) !== rateOf(read) && { cachedInputExplicit: rateOf(explicit) }),
    ...(rateOf(long) !== rateOf(write) && { cacheWriteLong: rateOf(long) }),
  };
}

function toFactors(factors: NonNullable<RatesEntry['service_tiers']>): TierFactor[] {
  return Object.entries(factors)
    .map(([name, factor]) => ({ name, factor: factorOf(factor) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function toHours({ from, to, days }: Pick<WindowEntry, 'from' | 'to' | 'days'>): Hours {
  return { fromMinute: minuteOf(from), toMinute: minuteOf(to), days: days ?? WEEKDAYS };
}

/** `16:30` as minutes after midnight; 24:00 is the following midnight. */
function minuteOf(time: string): number {
  const [hours, minutes] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** The schema guarantees a decimal that fits. */
function rateOf(rate: string | number): Pico {
  return pico(parseDecimal(String(rate), PICO_DECIMALS) ?? 0n);
}

/** In ten-thousandths. */
function factorOf(factor: string | number): number {
  return Number(parseDecimal(String(factor), FACTOR_DECIMALS) ?? 0n);
}
