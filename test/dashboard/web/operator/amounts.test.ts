// Amounts that are typed and summed in the browser: exact, as the server's integers are.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatTokens, MICRO_DECIMALS, micro, parseDecimal } from '../../../../src/core/money.ts';
import {
  addAmounts,
  plainAmount,
} from '../../../../src/dashboard/web/operator/accounts/decimal.ts';

test('a sum is what the integers of the ledger make', () => {
  const amount = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
  fc.assert(
    fc.property(amount, amount, (one, other) => {
      const sum = addAmounts(formatTokens(micro(one)), formatTokens(micro(other)));
      expect(sum).toBe(formatTokens(micro(one + other)));
      expect(parseDecimal(sum ?? '', MICRO_DECIMALS)).toBe(one + other);
    }),
  );
});

test.each(['', 'abc', '1e3', '.5', '1.', '1.0000001', '--1', '1,000', 'NaN'])(
  'what is no amount has no sum: %p',
  (text) => {
    expect(addAmounts('1', text)).toBeUndefined();
    expect(addAmounts(text, '1')).toBeUndefined();
  },
);

test('a sign before it is read, and trailing zeros go', () => {
  expect(addAmounts('+1.50', '-0.5')).toBe('1');
  expect(addAmounts('0.1', '0.2')).toBe('0.3');
  expect(addAmounts('1', '-2.25')).toBe('-1.25');
});

test.each([
  ['1,000', '1000'],
  [' 12 345 678.5 ', '12345678.5'],
  ["1'000", '1000'],
  ['\u22121_000', '-1000'],
  ['1\u202f000', '1000'],
  ['1000.25', '1000.25'],
])('the grouping of %p goes: %p', (typed, plain) => {
  expect(plainAmount(typed)).toBe(plain);
});

test.each(['1,5', '0,50', '1,00', '12,34,567', '1,000 000', '1000,000', '1.000,50'])(
  'a comma that groups nothing stays, for the server to refuse: %p',
  (typed) => {
    expect(plainAmount(typed)).toBe(typed);
    expect(parseDecimal(typed, MICRO_DECIMALS)).toBeUndefined();
  },
);
