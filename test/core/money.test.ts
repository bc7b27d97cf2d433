// Exact money: what is printed reads back as the same integer, and nothing is ever rounded on the
// way in.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  divideHalfUp,
  formatDecimal,
  formatTokens,
  formatUsd,
  parseDecimal,
} from '../../src/core/money.ts';

const anyInt64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
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
  expect(formatTokens(16_400_000n)).toBe('16.4');
  expect(formatUsd(16_400_000n, 1_000_000n)).toBe('0.0000164');
  expect(formatUsd(1n, 1n)).toBe('0.000000000000000001');
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 18n), fc.bigInt(1n, 10n ** 12n), (amount, rate) => {
      const usd = formatUsd(amount, rate);
      const [whole = '', fraction = ''] = usd.split('.');
      expect(BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'))).toBe(amount * rate);
    }),
  );
});

test('a quotient is rounded once, halves up', () => {
  expect([0n, 4n, 5n, 14n, 15n, 16n].map((value) => divideHalfUp(value, 10n))).toEqual([
    0n,
    0n,
    1n,
    1n,
    2n,
    2n,
  ]);
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 30n), fc.bigInt(1n, 10n ** 12n), (numerator, denominator) => {
      const twice = 2n * denominator * divideHalfUp(numerator, denominator) - 2n * numerator;
      expect(twice > -denominator && twice <= denominator).toBe(true);
    }),
  );
});
