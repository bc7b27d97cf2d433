// Measures over-admission of a simulated cluster from outside: from admissions alone it finds the
// smallest limit that permits them. What exceeds the plan's limit is over-admission.

import { WINDOW_MS } from '../../../src/core/window.ts';
import type { Arrival, Bound } from './demand.ts';

export type Admission = {
  readonly arrival: Arrival;
  readonly atMs: number;
  /** Until it was decided. */
  readonly waitedMs: number;
  /** When its slot was free again: it ended, or its node died. */
  endedMs: number | undefined;
  /** Whether its node could say what it had used in the end. */
  settled: boolean;
};

export const chargedTokens = ({ promptTokens, outputBound }: Arrival): number =>
  promptTokens + outputBound;

/** What each limit counts of a request. */
export function weightOf(bound: Bound): (arrival: Arrival) => number {
  return bound === 'requests' || bound === 'slots' ? () => 1 : chargedTokens;
}

/** The smallest limit under which all of this could have been admitted, in the limit's own unit. */
export function leastLimit(bound: Bound, admissions: readonly Admission[]): number {
  switch (bound) {
    case 'requests':
    case 'tokens':
      return leastWindowLimit(
        admissions.map(({ arrival, atMs }) => [atMs, weightOf(bound)(arrival)]),
      );
    case 'slots':
      return mostAtOnce(admissions);
    case 'day':
    case 'month':
      return mostUsed(admissions);
  }
}

/** Requests in flight at the busiest instant. An end and a beginning at one instant do not meet. */
function mostAtOnce(admissions: readonly Admission[]): number {
  const steps = admissions.flatMap(({ atMs, endedMs }): [number, number][] => [
    [atMs, 1],
    [endedMs ?? Infinity, -1],
  ]);
  return highest(steps);
}

/** What a cap had to cover: what is charged at first, and corrected when a request ends. */
function mostUsed(admissions: readonly Admission[]): number {
  const steps = admissions.flatMap(({ arrival, atMs, endedMs, settled }): [number, number][] => [
    [atMs, chargedTokens(arrival)],
    [endedMs ?? Infinity, settled ? arrival.usedTokens - chargedTokens(arrival) : 0],
  ]);
  return highest(steps);
}

function highest(steps: [atMs: number, change: number][]): number {
  steps.sort((left, right) => left[0] - right[0] || left[1] - right[1]);
  let sum = 0;
  let most = 0;
  for (const [, change] of steps) {
    sum += change;
    most = Math.max(most, sum);
  }
  return most;
}

type Weighted = readonly [atMs: number, weight: number];

/** By bisection: what fits into windows of a limit fits into those of every higher one. */
function leastWindowLimit(admitted: readonly Weighted[]): number {
  let below = -1;
  let enough = admitted.reduce((sum, [, weight]) => sum + weight, 0);
  while (enough - below > 1) {
    const middle = Math.floor((below + enough) / 2);
    if (fitsWindows(admitted, middle)) enough = middle;
    else below = middle;
  }
  return enough;
}

/** How long before its first admission a window may have begun: an unused permit lapses by then. */
const EARLY_MS = 1_000;

/**
 * Whether there are windows of 60 seconds that do not overlap, hold everything and never hold more
 * than `limit`. When exactly each of them began, is not visible from outside.
 */
function fitsWindows(admitted: readonly Weighted[], limit: number): boolean {
  const count = admitted.length;
  const atMs = (index: number): number => admitted[index]?.[0] ?? Infinity;
  /** For a window whose first admission is this one: the first that does not fit any more. */
  const overflows = firstOverflows(admitted, limit);
  /** The earliest that a window which begins with this admission could begin. */
  const earliest: number[] = Array.from({ length: count }, () => Infinity);
  if (count > 0) earliest[0] = -Infinity;
  for (let first = 0; first < count; first += 1) {
    const from = Math.max(earliest[first] ?? Infinity, atMs(first) - EARLY_MS);
    const until = Math.min(atMs(first), atMs(overflows[first] ?? count) - WINDOW_MS);
    if (from > until) continue;
    // The window ends before one of these, which begins the next window.
    let next = firstAtOrAfter(admitted, from + WINDOW_MS);
    for (let ends = from + WINDOW_MS; ends <= until + WINDOW_MS; next += 1) {
      if (next >= count) return true;
      earliest[next] = Math.min(earliest[next] ?? Infinity, ends);
      // A window that covers this one as well ends just after it.
      ends = atMs(next) + Number.EPSILON * 2 ** 20;
    }
  }
  return count === 0;
}

function firstOverflows(admitted: readonly Weighted[], limit: number): number[] {
  let end = 0;
  let sum = 0;
  return admitted.map(([, weight]) => {
    for (; end < admitted.length; end += 1) {
      const more = admitted[end]?.[1] ?? 0;
      if (sum + more > limit) break;
      sum += more;
    }
    const overflow = end;
    sum -= weight;
    return overflow;
  });
}

function firstAtOrAfter(admitted: readonly Weighted[], ms: number): number {
  let low = 0;
  let high = admitted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((admitted[middle]?.[0] ?? Infinity) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
