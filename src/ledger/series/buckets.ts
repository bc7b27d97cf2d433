// Reads a series of any grouping: page by page from the last bucket back, each with the position of
// the roll-up at that moment, then the records that were not rolled up. So nothing is counted twice
// or missed while others settle and roll up.

import { createPause } from '../../async/yield.ts';
import type { Span } from '../../core/calendar.ts';
import type { Database } from '../../store/contract.ts';
import { isPlaceBefore, type SeriesPlace } from './places.ts';
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
  /** The last page of a bucket, or the one that ends at `until`. */
  readonly page: (bucket: Span, until: SeriesPlace | undefined) => Promise<SeriesPage<Figures>>;
  readonly tail: (rows: RecordRange) => AsyncIterable<
    Grouped<Figures> & {
      readonly row: number;
      readonly startedAt: number;
      /** Those of its place in the series. */
      readonly texts: readonly string[];
    }
  >;
  readonly add: (a: Figures, b: Figures) => Figures;
};

export type SeriesPage<Figures> = {
  readonly groups: readonly Grouped<Figures>[];
  /** Its rows are before this place. */
  readonly until: SeriesPlace;
  /** Where the page before it ends; absent where it is the first one of its bucket. */
  readonly next: SeriesPlace | undefined;
  /** How much time a row sums. */
  readonly rowMs: number;
};

type Grouped<Figures> = { readonly group: string; readonly figures: Figures };

/**
 * Beyond this, an answer covers less time. Only end users can be so many. A cell counts once more for
 * each `GROUP_LENGTH` characters of its group, so that long names do not fill the memory.
 */
const CELLS_MAX = 40_000;
const GROUP_LENGTH = 64;

/** How long pages are read without a pause. */
const SNAPSHOT_MS_MAX = 4;

/** The most records that are read one by one; a longer backlog waits for the roll-up. */
export const TAIL_MAX = 20_000;

/** How many of them one statement reads: some 1 ms, and as long again to look up end users. */
const TAIL_ROWS = 250;

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
    const marks = createMarks();
    let firstBucket = Math.max(0, edges.length - 1);
    /** Where the next page of the bucket before it ends. */
    let until: SeriesPlace | undefined;
    let isFull = false;
    while (firstBucket > 0 && !isFull) {
      // One snapshot covers as many pages as the time allows.
      await database.snapshot(async () => {
        const seen = await mark();
        const startedAt = monotonic();
        do await readPage(firstBucket - 1, seen);
        while (!isFull && firstBucket > 0 && monotonic() - startedAt < SNAPSHOT_MS_MAX);
      });
      await pause();
    }
    return { behind: await addTail(), cells: cells.all(), firstBucket };

    async function readPage(bucket: number, seen: number): Promise<void> {
      const [fromMs = 0, untilMs = 0] = edges.slice(bucket, bucket + 2);
      const page = await source.page({ fromMs, untilMs }, until);
      for (const { group, figures } of page.groups) cells.add(bucket, group, figures);
      marks.add(bucket, seen, page);
      until = page.next;
      isFull = cells.size() > CELLS_MAX;
      if (isFull) {
        cells.drop(bucket);
        marks.drop(bucket);
      } else if (until === undefined) firstBucket = bucket;
    }

    /** Returns the number of records that were left out. */
    async function addTail(): Promise<number> {
      const after = marks.first();
      if (after === undefined) return 0;
      const end = await last();
      if (end - after > TAIL_MAX) return end - after;
      for (let from = after; from < end; from += TAIL_ROWS) {
        if (from > after) await pause();
        const rows = { after: from, until: Math.min(end, from + TAIL_ROWS) };
        for await (const { row, startedAt, texts, group, figures } of source.tail(rows)) {
          const bucket = bucketOf(edges, startedAt);
          if (!marks.includes(bucket, row, startedAt, texts)) cells.add(bucket, group, figures);
        }
      }
      return 0;
    }
  };
}

/** The positions of the roll-up when the pages of each bucket were read. */
function createMarks() {
  type PageEnd = Pick<SeriesPage<unknown>, 'until' | 'rowMs'>;
  const buckets = new Map<number, (PageEnd & { readonly seen: number })[]>();
  return {
    /** The pages of a bucket are added from its last one back. */
    add(bucket: number, seen: number, { until, rowMs }: PageEnd): void {
      const marks = buckets.getOrInsertComputed(bucket, () => []);
      if (marks.at(-1)?.seen !== seen) marks.push({ until, rowMs, seen });
    },
    drop: (bucket: number) => void buckets.delete(bucket),
    first(): number | undefined {
      const all = [...buckets.values()].flatMap((marks) => marks.map(({ seen }) => seen));
      return all.length === 0 ? undefined : Math.min(...all);
    },
    /** Whether the series included a record when its page was read; true outside of all buckets. */
    includes(bucket: number, row: number, startedAt: number, texts: readonly string[]): boolean {
      const marks = buckets.get(bucket) ?? [];
      const mark =
        marks.length < 2
          ? marks[0]
          : marks.findLast(({ until, rowMs }) =>
              isPlaceBefore([startedAt - (startedAt % rowMs), ...texts], until),
            );
      return mark === undefined || row <= mark.seen;
    },
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
