// Percentiles and failures over a period, from stored histograms, for both applications.

import { createPause } from '../async/yield.ts';
import { type Histogram, quantile } from '../core/histogram.ts';
import {
  addSpeeds,
  emptySpeeds,
  FAILURE_CLASSES,
  type Speeds,
} from '../ledger/series/speed-sums.ts';
import type { SpeedCell } from '../ledger/series/speeds.ts';
import { type PagePeriod, periodRecord } from './period.ts';

type Figures = ReturnType<typeof figuresOf>;

type Point = Figures & {
  /** The index of its bucket; buckets without requests have no point. */
  readonly bucket: number;
  /** Failed attempts by class. */
  readonly failures: Readonly<Record<string, number>>;
};

/** Yields to the event loop between steps: a period may have thousands of cells. */
export async function speedsRecord(period: PagePeriod, cells: readonly SpeedCell[]) {
  const pause = createPause();
  const total = emptySpeeds();
  const points: Point[] = [];
  for (const [bucket, of] of Map.groupBy(cells, (cell) => cell.bucket)) {
    const speeds = sumOf(of);
    addSpeeds(total, speeds);
    points.push({ bucket, ...figuresOf(speeds), failures: failuresOf(speeds.failures) });
    await pause();
  }
  /** Most requests first. */
  const models: (Figures & { readonly model: string })[] = [];
  for (const [model, of] of Map.groupBy(cells, (cell) => cell.model)) {
    models.push({ model, ...figuresOf(sumOf(of)) });
    await pause();
  }
  models.sort((a, b) => b.requests - a.requests || (a.model < b.model ? -1 : 1));
  const facts = { object: 'speeds', ...periodRecord(period) } as const;
  return { ...facts, total: figuresOf(total), points, models };
}

function sumOf(cells: readonly SpeedCell[]): Speeds {
  const sum = emptySpeeds();
  for (const { speeds } of cells) addSpeeds(sum, speeds);
  return sum;
}

/** Milliseconds, and output tokens per second. */
function figuresOf({ attempts, failed, ...speeds }: Speeds) {
  const { firstContent, duration, speed } = speeds;
  return {
    /** Requests of a customer; attempts at an upstream. */
    requests: attempts,
    failed,
    first_token_ms_p50: rounded(quantile(firstContent, 0.5)),
    first_token_ms_p95: rounded(quantile(firstContent, 0.95)),
    duration_ms_p50: rounded(quantile(duration, 0.5)),
    duration_ms_p95: rounded(quantile(duration, 0.95)),
    tokens_per_second_p50: rounded(quantile(speed, 0.5), 10),
  };
}

/** Three significant digits: there are no more. */
function rounded(value: number | null, divisor = 1): number | null {
  return value === null ? null : Number((value / divisor).toPrecision(3));
}

function failuresOf(failures: Histogram): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...failures].map(([place, times]) => [FAILURE_CLASSES[place] ?? 'gateway', times]),
  );
}
