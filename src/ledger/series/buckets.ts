// How a series is read, whatever it is grouped by: bucket by bucket from the last one back, each
// with how far the series went just then, and at the end the records that were behind. Nothing is
// counted twice or left out, although others settle and add up meanwhile.

import { createPause } from '../../async/yield.ts';
import type { Database } from '../../store/contract.ts';
import { prepareSeriesStatements } from './statements.ts';

/** What one group has in one bucket. */
export type Cell<Figures> = {
  /** The place of the bucket's beginning among the edges. */
  readonly bucket: number;
  readonly group: string;
  readonly figures: Figures;
};

export type Buckets<Figures> = {
  /** Buckets and groups without a request are left out. In no particular order. */
  readonly cells: readonly Cell<Figures>[];
  /** The first bucket that was read: later than 0 where there was too much for one answer. */
  readonly firstBucket: number;
  /** Records that are not counted, because very many are not added up yet; 0 but after an upgrade. */
  readonly behind: number;
};

/** What is read of which tables. */
type BucketSource<Figures> = {
  /** At most `limit` groups of a stretch of time, out of the series. */
  readonly groups: (range: BucketRange) => Promise<Iterable<Grouped<Figures>>>;
  /** Records from the one after `after` to the one at `until`. */
  readonly tail: (
    rows: TailRange,
  ) => AsyncIterable<Grouped<Figures> & { row: number; startedAt: number }>;
  readonly add: (a: Figures, b: Figures) => Figures;
};

export type BucketRange = {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly limit: number;
};
export type TailRange = { readonly after: number; readonly until: number };
type Grouped<Figures> = { readonly group: string; readonly figures: Figures };

/** Beyond this an answer covers less time. Only end users can be so many. */
const CELLS_MAX = 40_000;

/** For how long buckets are read without a pause. */
const SNAPSHOT_MS_MAX = 4;

/** Records that are read one by one; where there are more, they wait for the roll-up. */
export const TAIL_MAX = 20_000;

type ReadBuckets = <Figures>(
  /** Where the buckets begin, ascending, and where the last one ends. */
  edges: readonly number[],
  source: BucketSource<Figures>,
) => Promise<Buckets<Figures>>;

/** `database` is migrated; `monotonic` are milliseconds of a clock that never jumps. */
export function createBucketReader(
  database: Database,
  monotonic = () => performance.now(),
): ReadBuckets {
  const { mark, last } = prepareSeriesStatements(database);

  return async function readBuckets<Figures>(
    edges: readonly number[],
    source: BucketSource<Figures>,
  ): Promise<Buckets<Figures>> {
    const pause = createPause(monotonic);
    const cells = createCells(source.add);
    /** How far the series went when a bucket was read. */
    const marks = new Map<number, number>();
    let firstBucket = Math.max(0, edges.length - 1);
    let isFull = false;
    while (firstBucket > 0 && !isFull) {
      // As many buckets as there is time for are of one moment.
      await database.snapshot(async () => {
        const seen = await mark();
        const startedAt = monotonic();
        do isFull = !(await readBucket(firstBucket - 1, seen));
        while (!isFull && firstBucket > 0 && monotonic() - startedAt < SNAPSHOT_MS_MAX);
      });
      await pause();
    }
    return { behind: await addTail(), cells: cells.all(), firstBucket };

    /** Answers whether there was room for it. */
    async function readBucket(bucket: number, seen: number): Promise<boolean> {
      const [fromMs = 0, untilMs = 0] = edges.slice(bucket, bucket + 2);
      const limit = CELLS_MAX - cells.size() + 1;
      const groups = [...(await source.groups({ fromMs, untilMs, limit }))];
      if (groups.length === limit) return false;
      for (const { group, figures } of groups) cells.add(bucket, group, figures);
      marks.set(bucket, seen);
      firstBucket = bucket;
      return true;
    }

    /** Answers how many records were left out. */
    async function addTail(): Promise<number> {
      if (marks.size === 0) return 0;
      const after = Math.min(...marks.values());
      const until = await last();
      if (until - after > TAIL_MAX) return until - after;
      for await (const { row, startedAt, group, figures } of source.tail({ after, until })) {
        const bucket = bucketOf(edges, startedAt);
        // What the series held of it already when its bucket was read is not counted again.
        if (row > (marks.get(bucket) ?? until)) cells.add(bucket, group, figures);
      }
      return 0;
    }
  };
}

function createCells<Figures>(add: BucketSource<Figures>['add']) {
  const buckets = new Map<number, Map<string, Figures>>();
  let size = 0;
  return {
    add(bucket: number, group: string, figures: Figures): void {
      const groups = buckets.get(bucket) ?? new Map<string, Figures>();
      buckets.set(bucket, groups);
      const before = groups.get(group);
      groups.set(group, before === undefined ? figures : add(before, figures));
      if (before === undefined) size += 1;
    },
    size: () => size,
    all: (): Cell<Figures>[] =>
      [...buckets].flatMap(([bucket, groups]) =>
        Array.from(groups, ([group, figures]) => ({ bucket, group, figures })),
      ),
  };
}

/** The bucket that an instant lies in; none of them where it lies before or after all. */
function bucketOf(edges: readonly number[], ms: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edges[middle] ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
