// Numbers on the pages: grouping and shortening never change a value, and small amounts stay seen.

import '../support/english.ts';
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatDecimal } from '../../src/core/money.ts';
import {
  formatCompact,
  formatMilliseconds,
  formatRelative,
  formatShare,
  formatSpan,
  groupDigits,
  humanize,
  roundDecimal,
  tokenCount,
  weekdays,
} from '../../src/web/ui/format.ts';

/** Every amount that the books can hold, as the server prints it. */
const amounts = fc.bigInt(-(10n ** 24n), 10n ** 24n);
const places = fc.integer({ min: 0, max: 18 });

describe('grouping', () => {
  test('never changes a value', () => {
    fc.assert(
      fc.property(amounts, places, (amount, decimals) => {
        const printed = formatDecimal(amount, decimals);
        expect(groupDigits(printed).replaceAll(',', '').replace('−', '-')).toBe(printed);
      }),
    );
  });

  test('makes groups of three in the whole part alone', () => {
    fc.assert(
      fc.property(amounts, places, (amount, decimals) => {
        const [whole, fraction = ''] = groupDigits(formatDecimal(amount, decimals)).split('.');
        expect(whole).toMatch(/^−?\d{1,3}(,\d{3})*$/);
        expect(fraction).not.toContain(',');
      }),
    );
  });

  test('leaves what is no plain decimal as it is', () => {
    expect(['1e5', '', 'NaN', '1,000'].map(groupDigits)).toEqual(['1e5', '', 'NaN', '1,000']);
  });
});

describe('shortening', () => {
  test('is off by at most half a unit of the last place, and keeps no trailing zero', () => {
    fc.assert(
      fc.property(amounts, places, places, (amount, decimals, kept) => {
        const short = roundDecimal(formatDecimal(amount, decimals), kept);
        const [whole = '', fraction = ''] = short.replace('-', '').split('.');
        expect(fraction.length).toBeLessThanOrEqual(Math.min(kept, decimals));
        expect(fraction).not.toMatch(/0$/);
        const scale = 10n ** BigInt(Math.max(0, decimals - fraction.length));
        const sign = short.startsWith('-') ? -1n : 1n;
        const value = sign * BigInt(whole + fraction) * scale;
        const difference = value > amount ? value - amount : amount - value;
        const unit = 10n ** BigInt(Math.max(0, decimals - kept));
        expect(difference * 2n).toBeLessThanOrEqual(decimals > kept ? unit : 0n);
      }),
    );
  });

  test('rounds halves away from zero, and has no negative zero', () => {
    expect(
      [
        ['0.125', 2],
        ['-0.125', 2],
        ['-0.004', 2],
        ['999.995', 2],
        ['12', 2],
      ].map(([value, decimals]) => roundDecimal(String(value), Number(decimals))),
    ).toEqual(['0.13', '-0.13', '0', '1000', '12']);
  });
});

describe('times', () => {
  const now = Date.UTC(2026, 10, 21, 12);
  const cases: readonly [number, string][] = [
    [0, 'just now'],
    [-45_000, '45 s ago'],
    [-180_000, '3 min ago'],
    [7_200_000, 'in 2 h'],
    [-4 * 86_400_000, '4 days ago'],
    [-100 * 86_400_000, '3 months ago'],
    [-900 * 86_400_000, '2 years ago'],
  ];
  test.each(cases)('%d ms from now', (offset, text) => {
    expect(formatRelative(now + offset, now)).toBe(text);
  });

  test('spans have two units at most', () => {
    expect([5_000, 65_000, 3_600_000, 90_000_000].map(formatSpan)).toEqual([
      '5 s',
      '1 min 5 s',
      '1 h',
      '1 day 1 h',
    ]);
    expect([12, 1_250, 59_990, 61_000].map(formatMilliseconds)).toEqual([
      '12 ms',
      '1.3 s',
      '60 s',
      '1 min 1 s',
    ]);
  });
});

test('axes, shares and words', () => {
  expect([0, 950, 12_500, 1_200_000, 4e9, 0.0023].map(formatCompact)).toEqual([
    '0',
    '950',
    '12.5k',
    '1.2M',
    '4G',
    '0.0023',
  ]);
  expect([formatShare(1, 3), formatShare(2, 3), formatShare(1, 0)]).toEqual(['33%', '67%', '–']);
  expect([0, 1, 3, 4_975, 4_999, 5_000].map((part) => formatShare(part, 5_000))).toEqual([
    ...['0%', '<0.1%', '0.1%', '99.5%', '99.9%', '100%'],
  ]);
  expect([weekdays(['mon', 'sun']), tokenCount(1_200)]).toEqual(['Mon, Sun', '1,200 tokens']);
  expect(humanize('pending_deletion')).toBe('Pending deletion');
});
