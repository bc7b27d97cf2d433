// Two counts over the last ten seconds, such as successes and failures, in buckets of one second.
// Callers pass the time of a monotonic clock; a time that goes back counts as no progress.

const BUCKETS = 10;
const BUCKET_MS = 1_000;

export type RollingPair = ReturnType<typeof createRollingPair>;

export function createRollingPair() {
  const counts = new Float64Array(2 * BUCKETS);
  const sums: [number, number] = [0, 0];
  let latest = Number.NEGATIVE_INFINITY;

  const clear = (): void => {
    counts.fill(0);
    sums[0] = 0;
    sums[1] = 0;
  };
  /** Clears expired buckets. Returns the start of the current one. */
  const advance = (nowMs: number): number => {
    const bucket = Math.max(latest, Math.floor(nowMs / BUCKET_MS));
    if (bucket - latest >= BUCKETS) clear();
    else {
      for (let each = latest + 1; each <= bucket; each += 1) forget(offsetOf(each));
    }
    latest = bucket;
    return offsetOf(bucket);
  };
  const forget = (offset: number): void => {
    sums[0] -= counts[offset] ?? 0;
    sums[1] -= counts[offset + 1] ?? 0;
    counts[offset] = 0;
    counts[offset + 1] = 0;
  };

  return {
    add(which: 0 | 1, nowMs: number): void {
      const place = advance(nowMs) + which;
      counts[place] = (counts[place] ?? 0) + 1;
      sums[which] += 1;
    },
    totals(nowMs: number): readonly [number, number] {
      advance(nowMs);
      return sums;
    },
    clear,
  };
}

function offsetOf(bucket: number): number {
  return (((bucket % BUCKETS) + BUCKETS) % BUCKETS) * 2;
}
