// Amounts that are typed, summed and converted in the browser: exact, as the server's integers are.

import '../support/english.ts';
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  formatDecimal,
  formatTokens,
  formatUsd,
  MICRO_DECIMALS,
  micro,
  PICO_DECIMALS,
  parseDecimal,
  usdRate,
} from '../../src/core/money.ts';
import {
  type CurrencyFormat,
  formatCurrency,
  formatMovement,
  formatServiceTokens,
} from '../../src/web/ui/format-money.ts';
import {
  addAmounts,
  amountUnits,
  fitsPlaces,
  fromUsd,
  multiply,
  plainAmount,
  priceUnits,
  toUsd,
} from '../../src/web/ui/money.ts';

const amounts = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
/** The price of a million service tokens in 10⁻⁶ USD, as the catalog has it. */
const rates = fc.bigInt({ min: 1n, max: 10n ** 9n });

const rateText = (rate: bigint) => formatTokens(micro(rate));

test('a sum is what the integers of the ledger make', () => {
  fc.assert(
    fc.property(amounts, amounts, (one, other) => {
      const sum = addAmounts(formatTokens(micro(one)), formatTokens(micro(other)));
      expect(sum).toBe(formatTokens(micro(one + other)));
      expect(parseDecimal(sum ?? '', MICRO_DECIMALS)).toBe(one + other);
    }),
  );
});

describe('the two units of an amount', () => {
  test('service tokens in USD are what the server says', () => {
    fc.assert(
      fc.property(amounts, rates, (amount, rate) => {
        const tokens = formatTokens(micro(amount));
        const usd = toUsd(tokens, amountUnits(rateText(rate)));
        expect(usd).toBe(formatUsd(micro(amount), usdRate(rate)));
      }),
    );
  });

  test('the USD of an amount are that amount again, exactly', () => {
    fc.assert(
      fc.property(amounts, rates, (amount, rate) => {
        const units = amountUnits(rateText(rate));
        const tokens = formatTokens(micro(amount));
        const back = fromUsd(toUsd(tokens, units) ?? '', units);
        expect(back).toMatchObject({ base: tokens, isExact: true });
      }),
    );
  });

  test('USD are exact if and only if no remainder is left, and the nearest amount is bookable', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), rates, (cents, rate) => {
        const units = amountUnits(rateText(rate));
        const found = fromUsd(formatTokens(micro(cents)), units);
        // `cents` are 10⁻⁶ USD; a millionth of a service token costs `rate` × 10⁻¹⁸ USD.
        expect(found?.isExact).toBe((cents * 10n ** 12n) % rate === 0n);
        expect(fitsPlaces(found?.base ?? '', units)).toBe(true);
        expect(fromUsd(found?.nearest ?? '', units)).toMatchObject({
          base: found?.base,
          isExact: true,
        });
      }),
    );
  });

  test('prices per million model tokens and per model token convert without loss', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), rates, (price, rate) => {
        const units = priceUnits(rateText(rate));
        const perToken = toDecimal(price, 12);
        const back = fromUsd(toUsd(perToken, units) ?? '', units);
        expect(back).toMatchObject({ base: perToken, isExact: true });
      }),
    );
    expect(toUsd('0.15', priceUnits('1'))).toBe('0.15');
    expect(fromUsd('0.6', priceUnits('2'))?.base).toBe('0.3');
  });
});

test('a price a million tokens is the same price a token, to the last digit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (pico) => {
      const million = formatDecimal(pico, PICO_DECIMALS - 6);
      expect(multiply(million, '0.000001')).toBe(formatDecimal(pico, PICO_DECIMALS));
    }),
  );
});

function toDecimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '');
}

test.each(['', 'abc', '1e3', '.5', '1.', '--1', '1,000', 'NaN'])(
  'what is no amount has no sum: %p',
  (text) => {
    expect(addAmounts('1', text)).toBeUndefined();
    expect(addAmounts(text, '1')).toBeUndefined();
  },
);

test('an amount has at most six places, a price twelve', () => {
  expect(fitsPlaces('1.000001', amountUnits('1'))).toBe(true);
  expect(fitsPlaces('1.0000001', amountUnits('1'))).toBe(false);
  expect(fitsPlaces('0.000000000001', priceUnits('1'))).toBe(true);
});

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

test.each(['1,5', '0,50', '0,500', '1,00', '12,34,567', '1,000 000', '1000,000', '1.000,50'])(
  'a comma that groups nothing stays, so that it is rejected: %p',
  (typed) => {
    expect(plainAmount(typed)).toBe(typed);
    expect(parseDecimal(typed, MICRO_DECIMALS)).toBeUndefined();
  },
);

test.each([
  ['1,5', '1.5'],
  ['1.234,56', '1234.56'],
  ['1.234', '1234'],
  ['12.50', '12.50'],
  ['0.125', '0.125'],
  ['-1 000,5', '-1000.5'],
])('where the comma is the decimal separator, %p is %p', (typed, plain) => {
  expect(plainAmount(typed, ',')).toBe(plain);
});

describe('what is shown', () => {
  const usd: CurrencyFormat = { code: 'USD', perUsd: '1', locale: 'en-GB' };

  test.each([
    ['34.7', '$34.70', '$34.700000', '$34.70'],
    ['34.69815725', '$34.70', '$34.698157', '$34.69815725'],
    ['0.999999', '$1.00', '$0.999999', '$0.999999'],
    ['0.5', '$0.50', '$0.500000', '$0.50'],
    ['0.0003372', '$0.0003372', '$0.000337', '$0.0003372'],
    ['-0.00000123456', '−$0.000001235', '−$0.000001', '−$0.00000123456'],
    ['0', '$0.00', '$0.000000', '$0.00'],
    ['-1234567.891', '−$1,234,567.89', '−$1,234,567.891000', '−$1,234,567.891'],
  ] as const)(
    '%s USD as a figure, in a ledger, and with every digit',
    (usdAmount, figure, ledger, exact) => {
      const details = ['figure', 'ledger', 'exact'] as const;
      expect(details.map((detail) => formatCurrency(usdAmount, detail, usd))).toEqual([
        figure,
        ledger,
        exact,
      ]);
    },
  );

  test('another currency is converted exactly and has its own symbol and place', () => {
    const euro = { code: 'EUR', perUsd: '0.92', locale: 'en-GB' };
    expect(formatCurrency('10', 'figure', euro)).toBe('€9.20');
    expect(formatCurrency('10', 'figure', { ...euro, locale: 'de-DE' })).toBe('9.20\u00a0€');
    expect(formatCurrency('10', 'exact', { ...usd, locale: 'zh-CN' })).toBe('$10.00');
  });

  test('a figure has cents or four significant digits, and only zero looks like zero', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        const text = formatCurrency(formatTokens(micro(amount)), 'figure', usd);
        expect(text).toMatch(/^−?\$([1-9]\d{0,2}(,\d{3})*\.\d\d|0\.\d\d|0\.0*[1-9]\d{0,3})$/);
        expect(text === '$0.00').toBe(amount === 0n);
      }),
    );
  });

  test('rows of a ledger add up as they are shown, in each currency', () => {
    const perUsd = fc.constantFrom('1', '0.92', '7.1234567');
    const read = (text: string) => {
      expect(text).toMatch(/\.\d{6}$/);
      return BigInt(text.replace('−', '-').replace(/[$,.]/g, ''));
    };
    fc.assert(
      fc.property(amounts, amounts, perUsd, (balance, amount, rate) => {
        // A millionth of a service token, which is the ledger's unit, in USD.
        const usdOf = (value: bigint) => formatDecimal(value, 12);
        const format = { ...usd, perUsd: rate };
        const before = read(formatCurrency(usdOf(balance), 'ledger', format));
        const after = usdOf(balance + amount);
        const moved = formatMovement(usdOf(amount), after, format);
        expect(before + read(moved)).toBe(read(formatCurrency(after, 'ledger', format)));
        // At most one unit off, and never of the other sign.
        const off = read(moved) - read(formatCurrency(usdOf(amount), 'ledger', format));
        expect([-1n, 0n, 1n]).toContain(off);
        if (amount < 0n) expect(moved).toStartWith('−');
      }),
    );
  });

  test('with every digit, the amount can be read back', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        const text = formatCurrency(formatTokens(micro(amount)), 'exact', usd);
        const plain = text.replace('−', '-').replace(/[$,]/g, '');
        expect(parseDecimal(plain, MICRO_DECIMALS)).toBe(amount);
      }),
    );
  });

  test('service tokens are whole from a thousand, and have six places in a ledger', () => {
    const shown = (tokens: string) =>
      (['figure', 'ledger', 'exact'] as const).map((detail) => formatServiceTokens(tokens, detail));
    expect(shown('1234.5678')).toEqual(['1,235', '1,234.567800', '1,234.5678']);
    expect(shown('-61.4567')).toEqual(['−61.46', '−61.456700', '−61.4567']);
    expect(shown('0.012345')).toEqual(['0.01235', '0.012345', '0.012345']);
  });
});
