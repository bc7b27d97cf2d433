// Where the marks of a chart lie: round values that cover it, labels that leave each other room.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  alignDecimals,
  labelledPoints,
  largest,
  valueTicks,
} from '../../../src/dashboard/web/ui/chart-scale.ts';

test('marks begin at zero, are evenly apart, and the last alone reaches the largest value', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1e15, noNaN: true }), (most) => {
      const ticks = valueTicks(most, 4);
      expect(ticks[0]).toBe(0);
      expect(ticks.length).toBeGreaterThanOrEqual(2);
      expect(ticks.length).toBeLessThanOrEqual(6);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(most);
      expect(ticks.at(-2)).toBeLessThan(most);
    }),
  );
});

test('marks are round', () => {
  expect([7, 100, 0.03, 1_234].map((most) => valueTicks(most, 4))).toEqual([
    [0, 2, 4, 6, 8],
    [0, 50, 100],
    [0, 0.01, 0.02, 0.03],
    [0, 500, 1_000, 1_500],
  ]);
  expect(valueTicks(0, 4)).toEqual([0, 1]);
});

test('marks of one axis have the same decimals', () => {
  expect(alignDecimals(['$0', '$0.05', '$0.1'])).toEqual(['$0.00', '$0.05', '$0.10']);
  expect(alignDecimals(['0', '2.5 k', '1,000 k'])).toEqual(['0.0', '2.5 k', '1,000.0 k']);
  expect(alignDecimals(['0', '500', '1,000'])).toEqual(['0', '500', '1,000']);
});

test('labels are evenly apart, the last point among them, and no more than fit', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 0, max: 3_000 }),
      (n, width) => {
        const labelled = labelledPoints(n, width, 84);
        expect(labelled.at(-1)).toBe(n - 1);
        expect(labelled.length).toBeLessThanOrEqual(Math.max(1, Math.floor(width / 84)));
        const gaps = labelled.slice(1).map((point, index) => point - (labelled[index] ?? 0));
        expect(new Set(gaps).size).toBeLessThanOrEqual(1);
      },
    ),
  );
});

test('bars are as high as their sum, lines as their highest', () => {
  const series = [{ values: [1, null, 5] }, { values: [2, 9, 3] }];
  expect(largest(series, true)).toBe(9);
  expect(largest([{ values: [4, 4] }, { values: [4, 7] }], true)).toBe(11);
  expect(largest([{ values: [4, 4] }, { values: [4, 7] }], false)).toBe(7);
  expect(largest([], true)).toBe(0);
});
