// A price in the messages of `protocol.ts`.

import { pico } from '../core/money.ts';
import type { Price } from '../core/price.ts';
import { readTerms, termsOfPrice } from '../core/price-terms.ts';
import { type Integer, integer } from './integers.ts';

export type PriceNumbers = readonly [
  version: string,
  ...rates: [Integer, Integer, Integer, Integer],
  terms: string | null,
];

export function priceNumbers(price: Price): PriceNumbers {
  const { version, input, cachedInput, cacheWrite, output } = price;
  const rates = [
    integer(input),
    integer(cachedInput),
    integer(cacheWrite),
    integer(output),
  ] as const;
  return [version, ...rates, termsOfPrice(price)];
}

export function priceOfNumbers([version, ...values]: PriceNumbers): Price {
  const [input, cachedInput, cacheWrite, output, terms] = values;
  return {
    version,
    input: pico(BigInt(input)),
    cachedInput: pico(BigInt(cachedInput)),
    cacheWrite: pico(BigInt(cacheWrite)),
    output: pico(BigInt(output)),
    ...(terms !== null && { terms: readTerms(terms) }),
  };
}
