// Every price of a catalog with its start and its hours, as data for `tollgate prices show` and the
// console's price book. Marks the price that is effective at the given time.

import { periodRecord } from '../catalog/pricing-record.ts';
import { isoTime } from '../core/calendar.ts';
import type { Catalog, Model } from '../core/model.ts';
import type { UsdRate } from '../core/money.ts';
import { nextPriceChange, periodAt, priceAt, windowAt } from '../core/price-book.ts';

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
