// Reads a series of any grouping: its buckets from the last one back, each with the position of the
// roll-up at that moment, then the records that were not rolled up. So nothing is counted twice or
// missed while others settle and roll up, and no read holds a snapshot for longer than a bucket.

import { createPause } from '../../async/yield.ts';
import type { Span } from '../../core/calendar.ts';
import type { Database } from '../../store/contract.ts';
import { prepareSeriesStatements, type RecordRange } from './statements.ts';

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
  readonly bucket: (span: Span) => Promise<readonly Grouped<Figures>[]>;
  readonly tail: (
    rows: RecordRange,
  ) => AsyncIterable<Grouped<Figures> & { readonly row: number; readonly startedAt: number }>;
  readonly add: (a: Figures, b: Figures) => Figures;
};

type Grouped<Figures> = { readonly group: string; readonly figures: Figures };

/**
 * Beyond this, an answer covers less time. Only end users can be so many. A cell counts once more for
 * each `GROUP_LENGTH` characters of its group, so that long names do not fill the memory.
 */
const CELLS_MAX = 40_000;
const GROUP_LENGTH = 64;

/** The most records that are read one by one; a longer backlog waits for the roll-up. */
export const TAIL_MAX = 20_000;

/** How many of them are summed before other work of this thread. */
const TAIL_ROWS = 250;

type ReadBuckets = <Figures>(
  /** Where the buckets begin, ascending, and where the last one ends. */
  edges: readonly number[],
  source: BucketSource<Figures>,
) => Promise<Buckets<Figures>>;

/** `database` is migrated. */
export function createBucketReader(database: Database): ReadBuckets {
  const { mark, last } = prepareSeriesStatements(database);

  return async function readBuckets<Figures>(
    edges: readonly number[],
    source: BucketSource<Figures>,
  ): Promise<Buckets<Figures>> {
    const cells = createCells(source.add);
    const pause = createPause();
    /** The position of the roll-up when each bucket was read. */
    const marks = new Map<number, number>();
    let firstBucket = Math.max(0, edges.length - 1);
    while (firstBucket > 0) {
      const bucket = firstBucket - 1;
      const [fromMs = 0, untilMs = 0] = edges.slice(bucket, firstBucket + 1);
      const [seen, groups] = await database.snapshot(
        async () => [await mark(), await source.bucket({ fromMs, untilMs })] as const,
      );
      for (const { group, figures } of groups) cells.add(bucket, group, figures);
      if (cells.size() > CELLS_MAX) {
        cells.drop(bucket);
        break;
      }
      marks.set(bucket, seen);
      firstBucket = bucket;
      await pause();
    }
    const end = await last();
    const after = Math.min(end, ...marks.values());
    const isBehind = end - after > TAIL_MAX;
    for (let from = after; from < end && !isBehind; from += TAIL_ROWS) {
      if (from > after) await pause();
      const rows = { after: from, until: Math.min(end, from + TAIL_ROWS) };
      for await (const { row, startedAt, group, figures } of source.tail(rows)) {
        const bucket = bucketOf(edges, startedAt);
        if (row > (marks.get(bucket) ?? end)) cells.add(bucket, group, figures);
      }
    }
    return { cells: cells.all(), firstBucket, behind: isBehind ? end - after : 0 };
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
      if (before === undefined) size += cellsOf(group);
    },
    drop(bucket: number): void {
      for (const group of buckets.get(bucket)?.keys() ?? []) size -= cellsOf(group);
      buckets.delete(bucket);
    },
    size: () => size,
    all: (): Cell<Figures>[] =>
      [...buckets].flatMap(([bucket, groups]) =>
        Array.from(groups, ([group, figures]) => ({ bucket, group, figures })),
      ),
  };
}

function cellsOf(group: string): number {
  return 1 + Math.floor(group.length / GROUP_LENGTH);
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
