// Histograms with logarithmic buckets: the relative error of a quantile is the same for
// milliseconds and minutes, and two histograms add up to that of all their values. Pure.

import { packNumbers, unpackNumbers } from './shape.ts';

/** Buckets for each doubling of a value. The error of a quantile is half a bucket: 4.5 %. */
const PER_DOUBLING = 8;

/** A year in milliseconds is below 2³⁵; larger values count as this. */
const VALUE_MAX = 2 ** 40;

/** The number of values in each bucket; buckets without values are absent. */
export type Histogram = Map<number, number>;

/** Bucket 0 has the values below 1. */
export function bucketOf(value: number): number {
  if (!(value >= 1)) return 0;
  return 1 + Math.floor(Math.log2(Math.min(value, VALUE_MAX)) * PER_DOUBLING);
}

/** The middle of a bucket by ratio. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : 2 ** ((bucket - 0.5) / PER_DOUBLING);
}

/** Counts one value, or `count` of them, in a bucket. */
export function count(histogram: Histogram, bucket: number, times = 1): void {
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + times);
}

/** Adds the values of `other` to `histogram`. */
export function merge(histogram: Histogram, other: Histogram): Histogram {
  for (const [bucket, times] of other) count(histogram, bucket, times);
  return histogram;
}

/** The value that a share of all values does not exceed (nearest rank); null if there is none. */
export function quantile(histogram: Histogram, share: number): number | null {
  const buckets = [...histogram].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, times]) => sum + times, 0);
  let left = Math.max(1, Math.ceil(total * share));
  for (const [bucket, times] of buckets) {
    left -= times;
    if (left <= 0) return middleOf(bucket);
  }
  return null;
}

/** A few bytes for each bucket: its distance from the one before, and its number of values. */
export function packHistogram(histogram: Histogram): Uint8Array {
  let before = 0;
  return packNumbers(
    [...histogram]
      .sort(([a], [b]) => a - b)
      .flatMap(([bucket, times]) => {
        const distance = bucket - before;
        before = bucket;
        return [distance, times];
      }),
  );
}

/** Adds packed values to `histogram`. */
export function mergePacked(histogram: Histogram, packed: Uint8Array): Histogram {
  const numbers = unpackNumbers(packed);
  let bucket = 0;
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    bucket += numbers[at] ?? 0;
    count(histogram, bucket, numbers[at + 1]);
  }
  return histogram;
}
