// Counters and histograms for the request path: an addition takes some nanoseconds; all other work
// waits until the metrics are printed.

import type { Family, Labels } from './exposition.ts';

/** Registers a metric once; it is read whenever all are printed. */
export type Register = (read: () => Family) => void;

/** One series of a counter. The caller adds to `value`. */
type Count = { value: number };

type Description<Label extends string> = {
  readonly name: string;
  readonly help: string;
  /** Only for type inference. */
  readonly labels: readonly Label[];
};

/** Returns the maker of one series; make each set of labels once. */
export function createCounter<Label extends string>(
  register: Register,
  { name, help }: Description<Label>,
): (labels: Readonly<Record<Label, string>>) => Count {
  const series: { readonly labels: Labels; readonly count: Count }[] = [];
  register(() => ({
    name,
    help,
    type: 'counter',
    samples: series.map(({ labels, count }) => [labels, count.value]),
  }));
  return (labels) => {
    const count = { value: 0 };
    series.push({ labels, count });
    return count;
  };
}

export type Observe = (value: number) => void;

/** Returns the maker of one series; make each set of labels once. */
export function createHistogram<Label extends string>(
  register: Register,
  { name, help, buckets }: Description<Label> & { readonly buckets: readonly number[] },
): (labels: Readonly<Record<Label, string>>) => Observe {
  const series: { readonly labels: Labels; readonly counts: Buckets }[] = [];
  register(() => ({
    name,
    help,
    type: 'histogram',
    samples: series.flatMap(({ labels, counts }) => samplesOf(labels, buckets, counts)),
  }));
  return (labels) => {
    const counts: Buckets = { each: new Array<number>(buckets.length + 1).fill(0), sum: 0 };
    series.push({ labels, counts });
    return (value) => {
      let index = 0;
      while (index < buckets.length && value > (buckets[index] ?? 0)) index += 1;
      counts.each[index] = (counts.each[index] ?? 0) + 1;
      counts.sum += value;
    };
  };
}

/** Observations per bucket, the last one without an upper bound, and the sum of their values. */
type Buckets = { readonly each: number[]; sum: number };

/** Printed buckets are cumulative. */
function samplesOf(
  labels: Labels,
  buckets: readonly number[],
  { each, sum }: Buckets,
): Family['samples'] {
  let count = 0;
  const cumulative = each.map((observations, index) => {
    count += observations;
    return [{ ...labels, le: String(buckets[index] ?? '+Inf') }, count, '_bucket'] as const;
  });
  return [...cumulative, [labels, sum, '_sum'], [labels, count, '_count']];
}

/** Caches one value per key. The caller bounds the keys. */
export function createTable<Value>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>();
  // The compiler inlines `get`, and not the method that does both.
  return (key) => made.get(key) ?? made.getOrInsertComputed(key, make);
}
