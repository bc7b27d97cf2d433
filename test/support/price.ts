// Price books for tests that have nothing to say about time.

import type { Price } from '../../src/core/price.ts';
import { type PriceBook, SINCE_EVER } from '../../src/core/price-book.ts';

/** A book of one price. */
export function alwaysAt(price: Price): PriceBook {
  return [{ validFromMs: SINCE_EVER, price, windows: [] }];
}
