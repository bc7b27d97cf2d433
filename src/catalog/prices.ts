// A model's prices: rules that the schema cannot express, and the conversion to a price book.

import { createHash } from 'node:crypto';
import { parseInstant } from '../core/instant.ts';
import {
  AMOUNT_MAX,
  formatDecimal,
  MICRO_DECIMALS,
  PICO_DECIMALS,
  type Pico,
  parseDecimal,
  pico,
} from '../core/money.ts';
import type { Price } from '../core/price.ts';
import {
  type Hours,
  overlap,
  type PriceBook,
  type PriceWindow,
  SINCE_EVER,
  WEEKDAYS,
} from '../core/price-book.ts';
import { listAt, memberOf, sound } from './document.ts';
import {
  type PeriodEntry,
  PeriodSchema,
  PriceSchema,
  type RatesEntry,
  type WindowEntry,
  WindowSchema,
} from './price-schema.ts';
import { type ModelEntry, ModelSchema, type Problem } from './schema.ts';

const PICO_PER_MICRO = 10n ** BigInt(PICO_DECIMALS - MICRO_DECIMALS);

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
  return [
    ...ratesProblems(sound(PriceSchema, first), `${path}.price`, contextWindow),
    ...windowProblems(first, `${path}.price`, contextWindow),
    ...later.flatMap((period, index) => [
      ...ratesProblems(sound(PeriodSchema, period), `${path}.prices[${index}]`, contextWindow),
      ...windowProblems(period, `${path}.prices[${index}]`, contextWindow),
    ]),
    ...orderProblems(
      later.map((period) => sound(PeriodSchema, period)),
      `${path}.prices`,
    ),
  ];
}

function ratesProblems(rates: Partial<RatesEntry>, path: string, contextWindow: number): Problem[] {
  const { input, cached_input: cached } = rates;
  const problems = sizeProblems(rates, path, contextWindow);
  if (input === undefined || cached === undefined || rateOf(cached) <= rateOf(input))
    return problems;
  const text = 'must not be above input: a hold covers the prompt at that price';
  return [...problems, { path: `${path}.cached_input`, text }];
}

/** No answer may cost more than the ledger can book, or it could not be booked at all. */
function sizeProblems(rates: Partial<RatesEntry>, path: string, contextWindow: number): Problem[] {
  const most = AMOUNT_MAX * PICO_PER_MICRO;
  return (['input', 'cache_write', 'output'] as const).flatMap((name) => {
    const rate = rates[name];
    const tokens = WINDOWS_CHARGED * BigInt(contextWindow);
    if (rate === undefined || rateOf(rate) * tokens <= most) return [];
    const limit = formatDecimal(most / tokens, PICO_DECIMALS);
    const text = `must not be above ${limit} with this context_window: an answer could cost more than the books can hold`;
    return [{ path: `${path}.${name}`, text }];
  });
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
      const text = 'must not be the same as from; a whole day is from "00:00" to "24:00"';
      return [...problems, { path: `${place}.to`, text }];
    }
    const met = earlier.find((other) => overlap(other.hours, hours));
    earlier.push({ path: place, hours });
    if (met === undefined) return problems;
    const text = `overlaps ${met.path}; at each time one window at most may be open`;
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
      return [{ path: place, text: 'must be an instant that the calendar has' }];
    }
    const before = last;
    if (before !== undefined && ms <= before.ms) {
      return [{ path: place, text: `must be later than ${before.path}` }];
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

/** A placement's cost to the operator; the version distinguishes placements of one model. */
export function toCost(upstream: string, model: string, rates: RatesEntry): Price {
  return toPrice(`${upstream}/${model}`, rates);
}

/** The version is a digest of the price, so that every process computes the same one. */
function toPrice(slug: string, rates: Omit<RatesEntry, 'windows'>): Price {
  const input = rateOf(rates.input);
  const cachedInput = rateOf(rates.cached_input ?? rates.input);
  const cacheWrite = rateOf(rates.cache_write ?? rates.input);
  const output = rateOf(rates.output);
  // Cache writes had no price at first: if theirs equals the input price, versions stay the same.
  const parts = [input, cachedInput, output, ...(cacheWrite === input ? [] : [cacheWrite])];
  const amounts = parts.map((each) => formatDecimal(each, PICO_DECIMALS));
  const digest = createHash('sha256')
    .update([slug, ...amounts].join('\n'))
    .digest('hex');
  return { version: `price_${digest.slice(0, 16)}`, input, cachedInput, cacheWrite, output };
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
