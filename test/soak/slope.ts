// The slope of a series with a confidence interval. Theil-Sen: the median of the slopes of all
// pairs of points, which one burst of memory does not move. The interval is Sen's, from the
// variance of Kendall's S, widened for the autocorrelation of neighbouring points as Hamed and Rao
// (1998) do for the first lag: samples of memory are not independent.

export type Point = { readonly x: number; readonly y: number };

export type Slope = {
  readonly estimate: number;
  /** The ends of the interval of 95 % confidence. */
  readonly low: number;
  readonly high: number;
  readonly points: number;
};

/** The 97.5 % quantile of the normal distribution. */
const NORMAL_95 = 1.959964;

/** Fewer points have no interval. */
const POINTS_MIN = 8;

/** `undefined` for fewer than eight points. */
export function slopeOf(points: readonly Point[]): Slope | undefined {
  if (points.length < POINTS_MIN) return undefined;
  const slopes = pairSlopes(points);
  const estimate = median(slopes);
  const n = points.length;
  const variance = ((n * (n - 1) * (2 * n + 5)) / 18) * inflation(points, estimate);
  const reach = NORMAL_95 * Math.sqrt(variance);
  const at = (rank: number): number =>
    slopes[Math.min(slopes.length - 1, Math.max(0, Math.round(rank)))] ?? estimate;
  return {
    estimate,
    low: at((slopes.length - reach) / 2 - 1),
    high: at((slopes.length + reach) / 2),
    points: n,
  };
}

/** The medians of the points in each window of `width`, at its middle. */
export function medians(points: readonly Point[], width: number): Point[] {
  return summarized(points, width, median);
}

/** The least of the points in each window of `width`, at its middle. */
export function leasts(points: readonly Point[], width: number): Point[] {
  return summarized(points, width, ([least = Number.NaN]) => least);
}

function summarized(
  points: readonly Point[],
  width: number,
  summary: (ascending: readonly number[]) => number,
): Point[] {
  const windows = Map.groupBy(points, ({ x }) => Math.floor(x / width));
  return [...windows]
    .map(([index, window]) => ({ x: (index + 0.5) * width, y: summary(sorted(window)) }))
    .sort((a, b) => a.x - b.x);
}

function pairSlopes(points: readonly Point[]): number[] {
  const slopes: number[] = [];
  points.forEach((a, index) => {
    for (const b of points.slice(index + 1)) {
      if (b.x !== a.x) slopes.push((b.y - a.y) / (b.x - a.x));
    }
  });
  return slopes.sort((a, b) => a - b);
}

/** How much autocorrelation of the residuals widens the variance; at least 1. */
function inflation(points: readonly Point[], slope: number): number {
  const residuals = points.map(({ x, y }) => y - slope * x);
  const mean = residuals.reduce((sum, each) => sum + each, 0) / residuals.length;
  let lagged = 0;
  let all = 0;
  residuals.forEach((each, index) => {
    const next = residuals[index + 1];
    all += (each - mean) ** 2;
    if (next !== undefined) lagged += (each - mean) * (next - mean);
  });
  const correlation = all === 0 ? 0 : Math.min(0.95, Math.max(0, lagged / all));
  return (1 + correlation) / (1 - correlation);
}

function sorted(points: readonly Point[]): number[] {
  return points.map(({ y }) => y).sort((a, b) => a - b);
}

function median(ascending: readonly number[]): number {
  const middle = (ascending.length - 1) / 2;
  const low = ascending[Math.floor(middle)] ?? Number.NaN;
  const high = ascending[Math.ceil(middle)] ?? Number.NaN;
  return (low + high) / 2;
}
