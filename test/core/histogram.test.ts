// Histograms: the error of a quantile is bounded, and adding them up loses nothing.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  bucketOf,
  count,
  type Histogram,
  merge,
  mergePacked,
  packHistogram,
  quantile,
} from '../../src/core/histogram.ts';

const value = fc.oneof(
  fc.integer({ min: 1, max: 2_000 }),
  fc.double({ min: 1, max: 2 ** 39, noNaN: true }),
);
const values = fc.array(value, { maxLength: 60 });

function histogramOf(all: readonly number[]): Histogram {
  const histogram: Histogram = new Map();
  for (const each of all) count(histogram, bucketOf(each));
  return histogram;
}

test('a quantile is within 4.5 % of the exact one', () => {
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (all, share) => {
        const sorted = all.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(sorted.length * share)) - 1] ?? 0;
        const found = quantile(histogramOf(all), share) ?? 0;
        expect(Math.abs(found / exact - 1)).toBeLessThan(0.045);
      },
    ),
  );
});

test('the sum of two histograms is the histogram of all values, in any order', () => {
  fc.assert(
    fc.property(values, values, (some, others) => {
      const both = packHistogram(histogramOf([...some, ...others]));
      expect(packHistogram(merge(histogramOf(some), histogramOf(others)))).toEqual(both);
      expect(
        packHistogram(mergePacked(histogramOf(others), packHistogram(histogramOf(some)))),
      ).toEqual(both);
    }),
  );
});

test('any number has a bucket, and there are few of them', () => {
  expect([Number.NaN, -1, 0, 0.9].map(bucketOf)).toEqual([0, 0, 0, 0]);
  expect([1, 2, Number.MAX_VALUE, Number.POSITIVE_INFINITY].map(bucketOf)).toEqual([
    1, 9, 321, 321,
  ]);
  expect(quantile(new Map(), 0.5)).toBe(null);
});
