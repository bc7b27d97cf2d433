// Every price of a catalog, from when and at which hours, as data and as text, for
// `tollgate prices show`. What is in force at the instant asked for is marked.

import { periodRecord, timeOfDay } from '../catalog/pricing-record.ts';
import { isoTime } from '../core/calendar.ts';
import type { Catalog, Model } from '../core/model.ts';
import { formatDecimal, PICO_DECIMALS, type UsdRate } from '../core/money.ts';
import type { Price } from '../core/price.ts';
import {
  nextPriceChange,
  type PriceWindow,
  periodAt,
  priceAt,
  WEEKDAYS,
  windowAt,
} from '../core/price-book.ts';
import { shortTime, table } from './command.ts';

/** `in_force` is true of exactly one price of a model: a period's own, or that of a window. */
export function priceSheet({ usdPerMillion }: Catalog, models: readonly Model[], atMs: number) {
  return {
    at: isoTime(atMs),
    currency: 'USD',
    unit: '1M_tokens',
    models: models.map((model) => modelPrices(model, usdPerMillion, atMs)),
  } as const;
}

function modelPrices({ slug, prices }: Model, usdPerMillion: UsdRate, atMs: number) {
  const period = periodAt(prices, atMs);
  const open = windowAt(period, atMs);
  const next = nextPriceChange(prices, atMs);
  return {
    model: slug,
    version: priceAt(prices, atMs).version,
    next_change_at: next === undefined ? null : isoTime(next),
    prices: prices.map((each) => {
      const record = periodRecord(each, usdPerMillion);
      return {
        ...record,
        in_force: each === period && open === undefined,
        windows: record.windows.map((window, index) => ({
          ...window,
          in_force: each === period && each.windows[index] === open,
        })),
      };
    }),
  } as const;
}

export function priceSheetText(
  { usdPerMillion }: Catalog,
  models: readonly Model[],
  atMs: number,
): string {
  const header = [
    ...['', 'MODEL', 'FROM', 'HOURS', 'INPUT', 'CACHED', 'CACHE WRITE', 'OUTPUT'],
    ...['USD INPUT', 'CACHED', 'CACHE WRITE', 'OUTPUT', 'VERSION'],
  ];
  const rows = models.flatMap(({ slug, prices }) => {
    const period = periodAt(prices, atMs);
    const open = windowAt(period, atMs);
    return prices.flatMap((each) => {
      const from = Number.isFinite(each.validFromMs) ? shortTime(each.validFromMs) : '-';
      const row = (hours: string, inForce: boolean, price: Price): string[] => [
        ...[each === period && inForce ? '*' : '', slug, from, hours],
        ...priceCells(price, usdPerMillion),
      ];
      return [
        row('-', open === undefined, each.price),
        ...each.windows.map((window) => row(hoursOf(window), window === open, window.price)),
      ];
    });
  });
  const foot = [
    `* in force at ${shortTime(atMs)}. Times are UTC.`,
    'Prices are in service tokens for one model token, and in USD for a million of them.',
  ];
  return [table(header, rows), '', ...foot].join('\n');
}

function priceCells({ input, cachedInput, cacheWrite, output, version }: Price, usd: UsdRate) {
  const all = [input, cachedInput, cacheWrite, output];
  return [
    ...all.map((each) => formatDecimal(each, PICO_DECIMALS)),
    ...all.map((each) => formatDecimal(each * usd, PICO_DECIMALS + 6)),
    version,
  ];
}

/** `16:30-00:30 sat sun`; the days are left out where they are all. */
function hoursOf({ fromMinute, toMinute, days }: PriceWindow): string {
  const hours = `${timeOfDay(fromMinute)}-${timeOfDay(toMinute)}`;
  return days.length === WEEKDAYS.length ? hours : [hours, ...days].join(' ');
}
