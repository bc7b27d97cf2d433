// Numbers of other people's files: read exactly, in every notation, or not at all.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseJsonNumbers } from '../../src/core/json.ts';
import { formatDecimal, parseDecimal, readNumber } from '../../src/core/money.ts';

test.each([
  ['2.5e-07', 12, 250_000n, true],
  ['2.5E-7', 6, 0n, false],
  ['0.0000005', 6, 1n, false],
  ['-0.0000005', 6, -1n, false],
  ['1e3', 0, 1_000n, true],
  ['+1.', 2, 100n, true],
  ['0E-6176', 18, 0n, true],
  ['0.1000000000000000055511151231257827', 18, 100_000_000_000_000_006n, false],
])('%s with %d decimals', (text, decimals, value, isExact) => {
  expect(readNumber(text, decimals)).toEqual({ value, isExact });
});

test.each(['', 'x', '1,5', '.5', '1e', '0x10', 'NaN', 'Infinity', '1e999', ' 1'])(
  'no number: %p',
  (text) => {
    expect(readNumber(text, 6)).toBeUndefined();
  },
);

test('law: what is printed reads back, also as a number of JSON', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.nat(30),
      (value, decimals) => {
        const text = formatDecimal(value, decimals);
        expect(parseJsonNumbers(`{"a":[${text}]}`)).toEqual({ a: [text] });
        expect(readNumber(text, decimals)).toEqual({ value, isExact: true });
      },
    ),
  );
});

test('JSON keeps all but numbers', () => {
  expect(parseJsonNumbers('{"a":[1.10,"1.10",true,null,{}],"b":2.5e-07}')).toEqual({
    ...{ a: ['1.10', '1.10', true, null, {}], b: '2.5e-07' },
  });
  expect(parseJsonNumbers('{"a":')).toBeUndefined();
});

test('law: a plain decimal that fits is the same number in both readers', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^-?\d{1,20}(\.\d{1,20})?$/), fc.nat(20), (text, decimals) => {
      const { value, isExact } = readNumber(text, decimals) ?? {};
      const isPlain = /^-?\d{1,18}(\.\d{1,18})?$/.test(text);
      expect(parseDecimal(text, decimals)).toBe(isPlain && isExact ? value : undefined);
    }),
  );
});
