// Where the marks of a chart lie: round values that cover it, labels that leave each other room.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  alignDecimals,
  extremes,
  labelledPoints,
  lonePoints,
  stackedBars,
  valueScale,
} from '../../src/web/ui/chart-scale.ts';

const amount = fc
  .double({ min: -1e12, max: 1e15, noNaN: true })
  .map((value) => (Math.abs(value) < 1e-9 ? 0 : value));

test('all values and zero are within the chart, which wastes little, and marks are even', () => {
  fc.assert(
    fc.property(amount, amount, (a, b) => {
      const [least, most] = [Math.min(a, b), Math.max(a, b)];
      const { low, high, ticks } = valueScale(least, most);
      expect(low).toBeLessThanOrEqual(Math.min(0, least));
      expect(high).toBeGreaterThanOrEqual(Math.max(0, most));
      const reach = Math.max(0, most) - Math.min(0, least);
      if (reach > 0) expect(high - low).toBeLessThanOrEqual(reach * 1.09);
      expect(ticks.some((tick) => tick === 0)).toBe(true);
      expect(ticks.every((tick) => tick >= low && tick <= high)).toBe(true);
      if (reach === 0) return;
      expect(ticks.length).toBeGreaterThanOrEqual(3);
      expect(ticks.length).toBeLessThanOrEqual(8);
      const far = Math.max(-least, most);
      const marked = Math.max(...ticks.map(Math.abs));
      expect(far - marked).toBeLessThanOrEqual(reach * 0.26);
    }),
    {
      examples: [
        [-4.5, 4.5],
        [0, 0.59],
        [0, 0.6],
        [-3.9, 3.9],
      ],
    },
  );
});

test('marks are round, of counts whole', () => {
  const ticks = (most: number, whole?: boolean) => valueScale(0, most, whole).ticks;
  expect([ticks(7), ticks(100), ticks(0.59), ticks(1_234)]).toEqual([
    [0, 2, 4, 6],
    [0, 20, 40, 60, 80, 100],
    [0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5],
    [0, 200, 400, 600, 800, 1_000, 1_200],
  ]);
  expect(valueScale(-0.015, 0.03).ticks).toEqual([-0.01, 0, 0.01, 0.02, 0.03]);
  expect([ticks(1, true), ticks(2, true), ticks(0)]).toEqual([[0, 1], [0, 1, 2], [0]]);
});

test('marks of one axis have the same decimals', () => {
  expect(alignDecimals(['$0', '$0.05', '$0.1'])).toEqual(['$0.00', '$0.05', '$0.10']);
  expect(alignDecimals(['0', '2.5 k', '1,000 k'])).toEqual(['0.0', '2.5 k', '1,000.0 k']);
  expect(alignDecimals(['0', '500', '1,000'])).toEqual(['0', '500', '1,000']);
  const german = (marks: readonly string[]) => alignDecimals(marks, ',');
  expect(german(['0', '500', '1.000'])).toEqual(['0', '500', '1.000']);
  expect(german(['0 $', '0,5 $', '1.000 $'])).toEqual(['0,0 $', '0,5 $', '1.000,0 $']);
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

test('points without a neighbour are those that no line reaches', () => {
  expect(lonePoints([1, null, 2, 3, null, 0])).toEqual([1, null, null, null, null, 0]);
  expect(lonePoints([null, 7])).toEqual([null, 7]);
});

test('bars are stacked upward and downward from zero, lines reach their own values', () => {
  const series = [
    [1, null, -5],
    [2, -9, 3],
    [4, -1, -1],
  ];
  expect(stackedBars(series)).toEqual([
    [{ from: 0, to: 1 }, undefined, { from: 0, to: -5 }],
    [
      { from: 1, to: 3 },
      { from: 0, to: -9 },
      { from: 0, to: 3 },
    ],
    [
      { from: 3, to: 7 },
      { from: -9, to: -10 },
      { from: -5, to: -6 },
    ],
  ]);
  expect([extremes(series, true), extremes(series, false), extremes([], true)]).toEqual([
    [-10, 7],
    [-9, 4],
    [0, 0],
  ]);
});
