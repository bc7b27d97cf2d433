// Exact money: printed amounts parse to the same integer, and input is never rounded.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  add,
  formatDecimal,
  formatTokens,
  formatUsd,
  larger,
  type Micro,
  micro,
  parseDecimal,
  pico,
  smaller,
  subtract,
  type Tokens,
  tokenCount,
  type UsdRate,
  usdRate,
} from '../../src/core/money.ts';
import type { Price } from '../../src/core/price.ts';
import type { balances } from '../../src/store/money-tables.ts';

const anyInt64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  // As numbers, these are exact.
  fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
  fc.bigInt({ min: 10n ** 15n - 10n, max: 10n ** 15n }),
);
const decimals = fc.integer({ min: 0, max: 18 });

describe('formatDecimal', () => {
  test.each([
    [0n, 6, '0'],
    [1n, 6, '0.000001'],
    [16_400_000n, 6, '16.4'],
    [-1_500_000n, 6, '-1.5'],
    [100n, 0, '100'],
    [10n ** 18n, 6, '1000000000000'],
    [2n ** 63n - 1n, 6, '9223372036854.775807'],
    [1n, 18, '0.000000000000000001'],
  ] as const)('%d with %d decimals is %s', (value, places, text) => {
    expect(formatDecimal(value, places)).toBe(text);
  });

  test('reads back as the same integer, over all of 64 bits', () => {
    fc.assert(
      fc.property(anyInt64, decimals, (value, places) => {
        const text = formatDecimal(value, places);
        const [whole = ''] = text.replace('-', '').split('.');
        // Parsing takes 18 digits before the point: enough for every amount that is allowed.
        fc.pre(whole.length <= 18);
        expect(parseDecimal(text, places)).toBe(value);
      }),
      { numRuns: 2_000 },
    );
  });

  test('has no exponent, no trailing zero, no bare point and no negative zero', () => {
    fc.assert(
      fc.property(anyInt64, decimals, (value, places) => {
        const text = formatDecimal(value, places);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(text).not.toBe('-0');
      }),
    );
  });
});

describe('parseDecimal', () => {
  test.each([
    ['0.15', 12, 150_000_000_000n],
    ['1', 6, 1_000_000n],
    ['1.500000000', 6, 1_500_000n],
    ['007', 6, 7_000_000n],
    ['-2.5', 6, -2_500_000n],
    ['0.0000001', 6, undefined],
    ['1e3', 6, undefined],
    ['+1', 6, undefined],
    ['.5', 6, undefined],
    ['5.', 6, undefined],
    ['1,5', 6, undefined],
    [' 1', 6, undefined],
    ['1\n', 6, undefined],
    ['', 6, undefined],
    ['-', 6, undefined],
    ['Infinity', 6, undefined],
    ['0x10', 6, undefined],
    ['\u0661', 6, undefined],
    ['1234567890123456789', 6, undefined],
  ] as const)('%j with %d decimals is %p', (text, places, value) => {
    expect(parseDecimal(text, places)).toBe(value);
  });

  test('refuses every text with more decimals than fit, unless they are zeros', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 9 }), (whole, last) => {
        expect(parseDecimal(`${whole}.000000${last}`, 6)).toBeUndefined();
        expect(parseDecimal(`${whole}.0000000`, 6)).toBe(BigInt(whole) * 1_000_000n);
      }),
    );
  });
});

test('tokens and dollars are the same amount: the product is exact', () => {
  expect(formatTokens(micro(16_400_000n))).toBe('16.4');
  expect(formatUsd(micro(16_400_000n), usdRate(1_000_000n))).toBe('0.0000164');
  expect(formatUsd(micro(1n), usdRate(1n))).toBe('0.000000000000000001');
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 18n), fc.bigInt(1n, 10n ** 12n), (amount, rate) => {
      const usd = formatUsd(micro(amount), usdRate(rate));
      const [whole = '', fraction = ''] = usd.split('.');
      expect(BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'))).toBe(amount * rate);
    }),
  );
});

test('the compiler keeps the units apart', () => {
  const amount = micro(3n);
  const rate = usdRate(2n);
  const price = pico(1n);
  expect([add(amount, amount), larger(price, pico(2n))]).toEqual([micro(6n), pico(2n)]);
  const refused = [
    // @ts-expect-error a number without a unit is no amount
    (): Micro => 3n,
    // @ts-expect-error nor is a product
    (): Micro => amount * 2n,
    // @ts-expect-error nor is a sum of two units
    (): Micro => amount + rate,
    // @ts-expect-error a price of a token is no amount
    (): Micro => price,
    // @ts-expect-error an amount is no rate
    (): UsdRate => amount,
    // @ts-expect-error the rate comes behind the amount
    () => formatUsd(rate, amount),
    // @ts-expect-error a rate is printed as no amount
    () => formatTokens(rate),
    // @ts-expect-error no price is added to an amount
    () => add(amount, price),
    // @ts-expect-error an amount is not taken from a rate
    () => subtract(rate, amount),
    // @ts-expect-error a price is not less than an amount
    () => smaller(price, amount),
    // @ts-expect-error an amount never equals a rate
    () => amount === rate,
    // @ts-expect-error an amount is no price of a token
    (): Price['input'] => amount,
    // @ts-expect-error a number of requests, of characters or of bytes is no count of tokens
    (): Tokens => 3,
    // @ts-expect-error nor is an amount
    (): Tokens => amount,
    // @ts-expect-error and no amount is a count of tokens
    (): Micro => tokenCount(3),
    // @ts-expect-error a column of amounts holds no price
    (): typeof balances.$inferInsert => ({ accountId: 'a', posted: price, held: amount }),
  ];
  expect(refused.every((mixUp) => typeof mixUp === 'function')).toBe(true);
});
