// Formats every price of a catalog for `tollgate prices show`. Marks the prices that are effective
// at the given time.

import { timeOfDay } from '../catalog/pricing-record.ts';
import type { Catalog, Model } from '../core/model.ts';
import { formatDecimal, PICO_DECIMALS, type UsdRate } from '../core/money.ts';
import type { CacheRates, Price, Rates } from '../core/price.ts';
import { type PriceWindow, periodAt, pricesOf, WEEKDAYS, windowAt } from '../core/price-book.ts';
import { factorText, RATE_NAMES } from '../core/price-terms.ts';
import { shortTime, table } from './command.ts';

export function priceSheetText(
  { usdPerMillion }: Catalog,
  models: readonly Model[],
  atMs: number,
): string {
  const header = [
    '',
    'MODEL',
    'FROM',
    'HOURS',
    'INPUT',
    'CACHED',
    'CACHE WRITE',
    'OUTPUT',
    'USD INPUT',
    'CACHED',
    'CACHE WRITE',
    'OUTPUT',
    'VERSION',
  ];
  const rows = models.flatMap(({ slug, prices }) => {
    const period = periodAt(prices, atMs);
    const open = windowAt(period, atMs);
    return prices.flatMap((each) => {
      const from = Number.isFinite(each.validFromMs) ? shortTime(each.validFromMs) : '-';
      const row = (hours: string, inForce: boolean, price: Price): string[] => [
        each === period && inForce ? '*' : '',
        slug,
        from,
        hours,
        ...priceCells(price, usdPerMillion),
      ];
      return [
        row('-', open === undefined, each.price),
        ...each.windows.map((window) => row(hoursOf(window), window === open, window.price)),
      ];
    });
  });
  const foot = [
    ...termLines(models),
    `* effective at ${shortTime(atMs)}. Times are UTC.`,
    'Prices are in service tokens for one model token, and in USD for a million of them.',
  ];
  return [table(header, rows), '', ...foot].join('\n');
}

/** What the columns cannot show, for each price that has it. */
function termLines(models: readonly Model[]): string[] {
  const prices = models.flatMap(({ slug, prices }) =>
    prices.flatMap(pricesOf).map((price) => ({ slug, price })),
  );
  const lines = prices.flatMap(({ slug, price: { terms, version } }) => {
    const { tiers = [], serviceTiers = [], ...cache } = terms ?? {};
    const factors = serviceTiers.map(({ name, factor }) => `${name} × ${factorText(factor)}`);
    const facts = [
      rateWords(cache),
      ...tiers.map((tier) => `prompts above ${tier.aboveTokens} tokens: ${rateWords(tier)}`),
      factors.length === 0 ? '' : `service tiers ${factors.join(', ')}`,
    ];
    return facts.filter(Boolean).map((fact) => `${slug} ${version}: ${fact}`);
  });
  return lines.length === 0 ? [] : [...new Set(lines), ''];
}

const RATE_WORDS = {
  input: 'input',
  cachedInput: 'cached',
  cacheWrite: 'cache write',
  output: 'output',
  cachedInputExplicit: 'explicit cache reads',
  cacheWriteLong: 'cache writes of an hour',
};

function rateWords(rates: Partial<Rates & CacheRates>): string {
  const words = RATE_NAMES.flatMap(([member]) => {
    const rate = rates[member];
    return rate === undefined ? [] : `${RATE_WORDS[member]} ${formatDecimal(rate, PICO_DECIMALS)}`;
  });
  return words.join(', ');
}

function priceCells({ input, cachedInput, cacheWrite, output, version }: Price, usd: UsdRate) {
  const all = [input, cachedInput, cacheWrite, output];
  return [
    ...all.map((each) => formatDecimal(each, PICO_DECIMALS)),
    ...all.map((each) => formatDecimal(each * usd, PICO_DECIMALS + 6)),
    version,
  ];
}

/** `16:30-00:30 sat sun`; without days where it applies to all. */
function hoursOf({ fromMinute, toMinute, days }: PriceWindow): string {
  const hours = `${timeOfDay(fromMinute)}-${timeOfDay(toMinute)}`;
  return days.length === WEEKDAYS.length ? hours : [hours, ...days].join(' ');
}
