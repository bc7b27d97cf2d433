// The judge of the cluster simulation: it finds over-admission where there is some, and none where
// one process decided.

import { describe, expect, test } from 'bun:test';
import { inWorld } from '../world.ts';
import { type Admission, leastLimit } from './book.ts';
import { arrivals, type Bound, limitOf, planOf } from './demand.ts';
import { play } from './play.ts';
import { processLimits } from './process.ts';

const BOUNDS: readonly Bound[] = ['requests', 'tokens', 'slots', 'day', 'month'];

/** Requests of one prompt token and no answer. */
function admitted(
  ...instants: readonly (readonly [atMs: number, endedMs?: number])[]
): Admission[] {
  return instants.map(([atMs, endedMs], index) => ({
    arrival: {
      ...{ id: `req_${index}`, atMs, node: 0, lastsMs: 0 },
      ...{ promptTokens: 10, outputBound: 5, usedTokens: 12 },
    },
    ...{ atMs, waitedMs: 0, endedMs, settled: endedMs !== undefined },
  }));
}

describe('the smallest limit that would have admitted this', () => {
  test('requests and tokens: windows of 60 seconds that begin with an admission', () => {
    expect(leastLimit('requests', [])).toBe(0);
    expect(leastLimit('requests', admitted([0], [1], [2]))).toBe(3);
    expect(leastLimit('requests', admitted([0], [59_999], [60_000], [119_999]))).toBe(2);
    // A permit may lie for a second before it is used, and its window has begun by then.
    expect(leastLimit('requests', admitted([900], [60_100], [60_200]))).toBe(2);
    expect(leastLimit('requests', admitted([900], [59_800], [59_850]))).toBe(3);
    expect(leastLimit('tokens', admitted([0], [1], [60_000]))).toBe(30);
  });

  test('slots: requests that run at the same time', () => {
    expect(leastLimit('slots', admitted([0, 10], [5, 15], [10, 20]))).toBe(2);
    expect(leastLimit('slots', admitted([0], [5], [10]))).toBe(3);
  });

  test('caps: what is charged, corrected when a request ends', () => {
    expect(leastLimit('day', admitted([0], [5]))).toBe(30);
    expect(leastLimit('month', admitted([0, 3], [5, 8]))).toBe(27);
  });
});

test.each(BOUNDS)('%s: one process is exact, and two that do not talk are not', async (bound) => {
  // One world after the other: each of them has the timers of the whole process.
  const one = await leastOf(bound, 1);
  const two = await leastOf(bound, 2);
  const plan = planOf(bound, 60);
  const limit = limitOf(plan, bound);
  expect(one).toBeLessThanOrEqual(limit);
  expect(two).toBeGreaterThan(1.5 * limit);
});

function leastOf(bound: Bound, processes: number): Promise<number> {
  return inWorld(
    1,
    async (world) => {
      const demand = { bound, spread: 'even', times: 20 } as const;
      const asked = arrivals(world, demand, { nodes: processes, size: 60, forMs: 130_000 });
      const first = processLimits(world);
      const nodes = [first, processLimits(world)];
      const { played } = play(world, asked, planOf(bound, 60), ({ node }) => nodes[node] ?? first);
      await world.run(world.monotonic() + 200_000, () => undefined);
      return leastLimit(bound, played().admissions);
    },
    1,
  );
}
