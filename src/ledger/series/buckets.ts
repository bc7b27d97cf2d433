// Reads a series of any grouping: bucket by bucket from the last one back, each with the position
// of the roll-up at that moment, then the records that were not rolled up. So nothing is counted
// twice or missed while others settle and roll up.

import { createPause } from '../../async/yield.ts';
import type { Database } from '../../store/contract.ts';
import { prepareSeriesStatements } from './statements.ts';

/** The figures of one group in one bucket. */
export type Cell<Figures> = {
  /** The index of the bucket's first edge. */
  readonly bucket: number;
  readonly group: string;
  readonly figures: Figures;
};

export type Buckets<Figures> = {
  /** In no particular order, without buckets and groups that have no request. */
  readonly cells: readonly Cell<Figures>[];
  /** The first bucket that was read; above 0 where an answer would have been too large. */
  readonly firstBucket: number;
  /** Records not counted because too many are not rolled up; 0 except after an upgrade. */
  readonly behind: number;
};

/** The queries of one kind of series. */
type BucketSource<Figures> = {
  /** At most `limit` groups of a stretch of time, from the series. */
  readonly groups: (range: BucketRange) => Promise<Iterable<Grouped<Figures>>>;
  /** Records after `after`, up to `until`. */
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

/** Beyond this, an answer covers less time. Only end users can be so many. */
const CELLS_MAX = 40_000;

/** How long buckets are read without a pause. */
const SNAPSHOT_MS_MAX = 4;

/** The most records that are read one by one; a longer backlog waits for the roll-up. */
export const TAIL_MAX = 20_000;

type ReadBuckets = <Figures>(
  /** Where the buckets begin, ascending, and where the last one ends. */
  edges: readonly number[],
  source: BucketSource<Figures>,
) => Promise<Buckets<Figures>>;

/** `database` is migrated; `monotonic` is a clock in milliseconds that never jumps. */
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
    /** The position of the roll-up when each bucket was read. */
    const marks = new Map<number, number>();
    let firstBucket = Math.max(0, edges.length - 1);
    let isFull = false;
    while (firstBucket > 0 && !isFull) {
      // One snapshot covers as many buckets as the time allows.
      await database.snapshot(async () => {
        const seen = await mark();
        const startedAt = monotonic();
        do isFull = !(await readBucket(firstBucket - 1, seen));
        while (!isFull && firstBucket > 0 && monotonic() - startedAt < SNAPSHOT_MS_MAX);
      });
      await pause();
    }
    return { behind: await addTail(), cells: cells.all(), firstBucket };

    /** Whether there was room for it. */
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

    /** Returns the number of records that were left out. */
    async function addTail(): Promise<number> {
      if (marks.size === 0) return 0;
      const after = Math.min(...marks.values());
      const until = await last();
      if (until - after > TAIL_MAX) return until - after;
      for await (const { row, startedAt, group, figures } of source.tail({ after, until })) {
        const bucket = bucketOf(edges, startedAt);
        // Skips what the series included when the bucket was read.
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
      const groups = buckets.getOrInsertComputed(bucket, () => new Map());
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

/** The index of the bucket that contains an instant; outside all of them, no valid index. */
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
