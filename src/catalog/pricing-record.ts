// `pricing` of a model record: the current price of a model and all known future ones, as exact
// decimal strings per million model tokens, in USD and in service tokens. Pure.

import { isoTime } from '../core/calendar.ts';
import { formatDecimal, PICO_DECIMALS, type Pico, type UsdRate } from '../core/money.ts';
import type { CacheRates, Price, Rates } from '../core/price.ts';
import {
  nextPriceChange,
  type PriceBook,
  type PricePeriod,
  type PriceWindow,
  periodAt,
  priceAt,
} from '../core/price-book.ts';
import { factorTexts, rateTexts } from '../core/price-terms.ts';

/** `schedule` starts with the current period; `next_change_at` includes its windows. */
export function pricingRecord(prices: PriceBook, usdPerMillion: UsdRate, nowMs: number) {
  const current = periodAt(prices, nowMs);
  const next = nextPriceChange(prices, nowMs);
  return {
    currency: 'USD',
    unit: '1M_tokens',
    ...ratesRecord(priceAt(prices, nowMs), usdPerMillion),
    next_change_at: next === undefined ? null : isoTime(next),
    schedule: prices
      .filter((period) => period.validFromMs >= current.validFromMs)
      .map((period) => periodRecord(period, usdPerMillion)),
  } as const;
}

/** The outer price applies while no window is open. */
export function periodRecord(period: PricePeriod, usdPerMillion: UsdRate) {
  const { validFromMs, price, windows } = period;
  return {
    valid_from: Number.isFinite(validFromMs) ? isoTime(validFromMs) : null,
    ...ratesRecord(price, usdPerMillion),
    windows: windows.map((window) => windowRecord(window, usdPerMillion)),
  } as const;
}

function windowRecord(window: PriceWindow, usdPerMillion: UsdRate) {
  return {
    from: timeOfDay(window.fromMinute),
    to: timeOfDay(window.toMinute),
    days: window.days,
    ...ratesRecord(window.price, usdPerMillion),
  } as const;
}

function ratesRecord(price: Price, usdPerMillion: UsdRate) {
  const usd = (rate: Pico) => formatDecimal(rate * usdPerMillion, PICO_DECIMALS + 6);
  const tokens = (rate: Pico) => formatDecimal(rate, PICO_DECIMALS - 6);
  const both = (rates: Rates & CacheRates) => ({
    ...rateTexts(rates, usd),
    svc_tokens: rateTexts(rates, tokens),
  });
  const { tiers, serviceTiers } = price.terms ?? {};
  return {
    version: price.version,
    ...both({ ...price.terms, ...price }),
    // Only prices that have them have these members.
    ...(tiers && {
      /** The whole request has the rates of the highest tier whose bound its prompt exceeds. */
      tiers: tiers.map((tier) => ({ above_tokens: tier.aboveTokens, ...both(tier) })),
    }),
    /** Factors of the whole charge, by the service tier that the answer names. */
    ...(serviceTiers && { service_tiers: factorTexts(serviceTiers) }),
  } as const;
}

/** Minutes after midnight as `16:30`. */
export function timeOfDay(minute: number): string {
  const part = (value: number) => String(value).padStart(2, '0');
  return `${part(Math.floor(minute / 60))}:${part(minute % 60)}`;
}
