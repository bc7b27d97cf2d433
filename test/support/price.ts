// Price books without time-dependent prices.

import { pico } from '../../src/core/money.ts';
import type { Price } from '../../src/core/price.ts';
import { type PriceBook, SINCE_EVER } from '../../src/core/price-book.ts';

/** A book of one price. */
export function alwaysAt(price: Price): PriceBook {
  return [{ validFromMs: SINCE_EVER, price, windows: [] }];
}

/** Every token costs `rate`. */
export function flatPrice(version: string, rate: bigint): Price {
  const each = pico(rate);
  return { version, input: each, cachedInput: each, cacheWrite: each, output: each };
}
