// Short runs of the cluster simulation: no limit is ever exceeded, and allowed requests are
// admitted.

import { describe, expect, test } from 'bun:test';
import { type Scenario, simulateCluster } from './simulate.ts';

const SMALL = { seed: 1, nodes: 3, size: 120, minutes: 2.1 } as const;

const BUSY: readonly Omit<Scenario, keyof typeof SMALL>[] = (
  ['requests', 'tokens', 'slots', 'day', 'month'] as const
).flatMap((bound) => (['even', 'uneven'] as const).map((spread) => ({ bound, spread, times: 10 })));

describe('ten times the limit, offered to three nodes', () => {
  test.each(BUSY)('$bound, $spread', async (demand) => {
    const { overAdmitted, share } = await simulateCluster({ ...SMALL, ...demand });
    expect(overAdmitted).toBe(0);
    expect(share).toBeGreaterThan(0.98);
  });
});

test('a busy account far from its limit goes no way to Redis', async () => {
  const demand = { bound: 'requests', spread: 'even', times: 0.3 } as const;
  const far = await simulateCluster({ ...SMALL, ...demand, size: 6_000, minutes: 0.5 });
  expect(far).toMatchObject({ overAdmitted: 0, share: 1 });
  expect(far.waited).toBeLessThan(0.15);
});

test('nodes that die take nothing with them for longer than a lease', async () => {
  const demand = { bound: 'slots', spread: 'even', times: 4 } as const;
  const dying = await simulateCluster({ ...SMALL, ...demand, deaths: 1, minutes: 4 });
  expect(dying.overAdmitted).toBe(0);
  // Half a minute of one node's slots, in four.
  expect(dying.share).toBeGreaterThan(0.93);
});

test.each(['requests', 'tokens'] as const)(
  'a Redis that forgets in the middle of a window learns of it: %s',
  async (bound) => {
    const demand = { bound, spread: 'even', times: 10 } as const;
    const outcome = await simulateCluster({ ...SMALL, ...demand, redisForgets: true });
    expect(outcome.overAdmitted).toBe(0);
    expect(outcome.share).toBeGreaterThan(0.98);
  },
);

test('packets that are late let no node use a window twice, nor after its end', async () => {
  const demand = { bound: 'requests', spread: 'even', times: 10, size: 600 } as const;
  const late = await simulateCluster({ ...SMALL, ...demand, nodes: 4, lateChance: 0.3 });
  // Those that are too late are decided by a share, which is the one way above the limit.
  expect(late.overAdmitted).toBeLessThanOrEqual(late.shared);
  const later = { ...SMALL, ...demand, nodes: 4, lateChance: 0.5, lateMs: 8 };
  expect(await simulateCluster(later)).toMatchObject({ overAdmitted: 0, shared: 0 });
});

test('without Redis each node goes on with its share, and comes back to the limit', async () => {
  const demand = { bound: 'requests', spread: 'uneven', times: 10 } as const;
  const away = await simulateCluster({ ...SMALL, ...demand, redisAwayMs: 10_000 });
  // What was admitted before counts on each node by itself: less than a share each comes on top.
  expect(away.overAdmitted).toBeLessThan(SMALL.size);
  expect(away.share).toBeGreaterThan(0.98);
});

test('the same seed plays the same cluster', async () => {
  const scenario = { ...SMALL, bound: 'tokens', spread: 'uneven', times: 2, minutes: 1 } as const;
  expect(await simulateCluster(scenario)).toEqual(await simulateCluster(scenario));
});
