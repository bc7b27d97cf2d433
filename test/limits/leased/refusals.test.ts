// What a node refuses: no request because of permits that others merely keep, none twice for a
// question just asked, and no permit stays taken.

import { expect, test } from 'bun:test';
import type { Plan } from '../../../src/core/plan.ts';
import { describeWithServices } from '../../support/services.ts';
import { PLAN } from '../world.ts';
import { type Cluster, createCluster, useRedis } from './cluster.ts';

const WIDE: Plan = {
  ...PLAN,
  requestsPerMinute: 1_000,
  tokensPerMinute: 1_000_000,
  concurrentRequests: 1_000,
};

/** Nothing that a request waits for comes with time. */
const noTimePasses = () => new Promise(() => {});

const SLOTS = 10;
const BURST = 4;

/** How many of so many requests, sent at once, are admitted there. */
async function admitted(
  cluster: Cluster,
  node: number,
  requests: number,
  plan: Plan,
): Promise<number> {
  const asked = Array.from({ length: requests }, () => cluster.claim(cluster.node(node), { plan }));
  return (await Promise.all(asked)).filter((outcome) => typeof outcome !== 'string').length;
}

const exchangesOf = (cluster: Cluster, node: number): number =>
  cluster.node(node).limits.counts().exchanges;

describeWithServices('refusals of several nodes', ['Redis'], () => {
  const used = useRedis();

  test.each([
    { ...WIDE, requestsPerMinute: 5 },
    { ...WIDE, tokensPerMinute: 100 },
    { ...WIDE, dailyTokens: 100 },
    { ...WIDE, monthlyTokens: 100 },
  ])('every request that fits is admitted after a burst elsewhere: %o', async (plan) => {
    const cluster = createCluster(used().redis, 2, { sleep: noTimePasses });
    expect(await admitted(cluster, 0, 3, plan)).toBe(3);
    expect(await admitted(cluster, 1, 9, plan)).toBe(2);
    await cluster.stop();
  });

  test.each([2, 3, 6])(
    'every slot is had, among %d who lease, after a burst elsewhere',
    async (size) => {
      const cluster = createCluster(used().redis, size, { sleep: noTimePasses });
      const plan = { ...WIDE, concurrentRequests: SLOTS };
      for (let node = 0; node < size; node += 1) {
        expect(await admitted(cluster, node, BURST, plan)).toBe(BURST);
        for (const each of cluster.admitted) if (each.state === 'open') cluster.settle(each, 1);
        // Nothing has reported to Redis yet that all of them are free.
        expect(await admitted(cluster, node + 1, 2 * SLOTS, plan)).toBe(SLOTS);
        for (const each of cluster.admitted) if (each.state === 'open') cluster.settle(each, 1);
        await cluster.idle(1_000, 1_000);
      }
      await cluster.stop();
    },
  );

  test('a node that stops leaves no slot taken, though it was just telling of another', async () => {
    const cluster = createCluster(used().redis, 2);
    const plan = { ...WIDE, concurrentRequests: SLOTS };
    expect(await admitted(cluster, 0, BURST, plan)).toBe(BURST);
    const { limits } = cluster.node(0);
    // The first time it has to ask the books as well.
    await limits.usage('acct_1', plan);
    const telling = limits.usage('acct_1', plan);
    for (const each of cluster.admitted) cluster.settle(each, 1);
    await Promise.all([telling, limits.stop()]);
    expect(await admitted(cluster, 1, 2 * SLOTS, plan)).toBe(SLOTS);
    await cluster.stop();
  });

  test('where others use their slots, a request is refused at once', async () => {
    let sleeps = 0;
    const cluster = createCluster(used().redis, 2, {
      async sleep() {
        sleeps += 1;
      },
    });
    const plan = { ...WIDE, concurrentRequests: SLOTS };
    expect(await admitted(cluster, 0, 2 * SLOTS, plan)).toBe(SLOTS);
    expect(await admitted(cluster, 1, 2 * SLOTS, plan)).toBe(0);
    expect(sleeps).toBe(0);
    await cluster.stop();
  });

  test('an account whose slots others use has none left, and Redis is asked for that alone', async () => {
    const cluster = createCluster(used().redis, 2);
    const plan = { ...WIDE, concurrentRequests: 2 };
    const left = async (node: number) => {
      const before = exchangesOf(cluster, node);
      const { freeSlots } = await cluster.node(node).limits.left('acct_1', plan);
      return { freeSlots, asked: exchangesOf(cluster, node) > before };
    };
    expect(await admitted(cluster, 0, 3, plan)).toBe(2);
    expect(await admitted(cluster, 1, 1, plan)).toBe(0);
    expect(await left(1)).toEqual({ freeSlots: 0, asked: true });
    for (const each of cluster.admitted) cluster.settle(each, 1);
    await cluster.idle(1_000, 1_000);
    expect(await left(1)).toEqual({ freeSlots: 2, asked: false });
    await cluster.stop();
  });

  test('requests one after the other make one way to Redis, however few slots there are', async () => {
    const cluster = createCluster(used().redis, 6);
    const plan = { ...WIDE, concurrentRequests: 4 };
    for (let request = 0; request < 20; request += 1) {
      expect(await admitted(cluster, 0, 1, plan)).toBe(1);
      for (const each of cluster.admitted) if (each.state === 'open') cluster.settle(each, 1);
    }
    // Requests and tokens come in batches that grow.
    expect(exchangesOf(cluster, 0)).toBeLessThan(8);
    await cluster.stop();
  });

  test('Redis is asked ten times a second at most about windows and caps that are full', async () => {
    for (const plan of [
      { ...WIDE, requestsPerMinute: 5 },
      { ...WIDE, tokensPerMinute: 100 },
      { ...WIDE, dailyTokens: 100 },
      { ...WIDE, monthlyTokens: 100 },
    ]) {
      const cluster = createCluster(used().redis, 2, { sleep: noTimePasses });
      expect((await admitted(cluster, 0, 3, plan)) + (await admitted(cluster, 1, 9, plan))).toBe(5);
      // What is only reserved comes back at any time, so Redis would be asked each time.
      for (const each of cluster.admitted) cluster.settle(each, 20);
      await cluster.idle(1_000, 1_000);
      const before = exchangesOf(cluster, 1);
      for (let request = 0; request < 30; request += 1) {
        expect(await admitted(cluster, 1, 2, plan)).toBe(0);
        cluster.wait(10);
      }
      expect(exchangesOf(cluster, 1) - before).toBeLessThanOrEqual(3);
      expect(cluster.node(1).limits.counts().local).toBeGreaterThan(50);
      await cluster.stop();
    }
  });

  test('what was refused just now is admitted once there is room', async () => {
    const plan = { ...WIDE, requestsPerMinute: 5 };
    const cluster = createCluster(used().redis, 2);
    expect((await admitted(cluster, 0, 3, plan)) + (await admitted(cluster, 1, 9, plan))).toBe(5);
    // A plan that is raised, and what this node gives back itself, at once; what another one does,
    // soon.
    expect(await admitted(cluster, 1, 9, { ...plan, requestsPerMinute: 6 })).toBe(1);
    const cancelOne = async (node: number): Promise<void> => {
      const each = cluster.admitted.findLast((each) => each.node === cluster.node(node));
      if (each !== undefined) await cluster.cancel(each);
    };
    await cancelOne(1);
    expect(await admitted(cluster, 1, 9, plan)).toBe(0);
    expect(await admitted(cluster, 1, 9, { ...plan, requestsPerMinute: 6 })).toBe(1);
    await cancelOne(0);
    cluster.wait(750);
    const before = exchangesOf(cluster, 0);
    cluster.node(0).tick();
    while (exchangesOf(cluster, 0) === before) await Bun.sleep(1);
    expect(await admitted(cluster, 1, 9, { ...plan, requestsPerMinute: 6 })).toBe(1);
    await cluster.stop();
  });

  test('count_tokens asks as rarely where its window is full', async () => {
    const plan = { ...WIDE, requestsPerMinute: 2 };
    const cluster = createCluster(used().redis, 2);
    const count = (node: number) => cluster.node(node).limits.claimCount('acct_1', plan);
    expect([await count(0), await count(1), await count(1)]).toEqual([undefined, undefined, 60]);
    const before = exchangesOf(cluster, 1);
    for (let request = 0; request < 9; request += 1) expect(await count(1)).toBe(60);
    expect(exchangesOf(cluster, 1)).toBe(before);
    await cluster.stop();
  });

  test('count_tokens has its whole window after a burst elsewhere', async () => {
    const plan = { ...WIDE, requestsPerMinute: 5 };
    const cluster = createCluster(used().redis, 2, { sleep: noTimePasses });
    const counted = async (node: number, requests: number): Promise<number> => {
      const { limits } = cluster.node(node);
      const asked = Array.from({ length: requests }, () => limits.claimCount('acct_1', plan));
      return (await Promise.all(asked)).filter((seconds) => seconds === undefined).length;
    };
    expect([await counted(0, 3), await counted(1, 9)]).toEqual([3, 2]);
    await cluster.stop();
  });

  test('a request that the books cannot be asked for leaves nothing taken', async () => {
    let fails = true;
    const cluster = createCluster(used().redis, 1, {
      local: (own) => ({
        ...own,
        claim: async (request) => {
          if (fails) throw new Error('the books are away');
          return own.claim(request);
        },
      }),
    });
    const plan = { ...WIDE, requestsPerMinute: 2, concurrentRequests: 1, dailyTokens: 40 };
    for (let request = 0; request < 3; request += 1) {
      await expect(cluster.claim(cluster.node(0), { plan })).rejects.toThrow('the books are away');
      await cluster.idle(1);
    }
    fails = false;
    expect(await admitted(cluster, 0, 1, plan)).toBe(1);
    for (const each of cluster.admitted) cluster.settle(each, 20);
    expect(await admitted(cluster, 0, 3, plan)).toBe(1);
    await cluster.stop();
  });

  test('nodes wait for each other when Redis has forgotten what they lease', async () => {
    const slept: number[] = [];
    const cluster = createCluster(used().redis, 2, {
      async sleep(ms) {
        slept.push(ms);
      },
    });
    expect(await admitted(cluster, 0, 3, WIDE)).toBe(3);
    await used().server.ask('FLUSHALL');
    expect(await admitted(cluster, 1, 1, WIDE)).toBe(1);
    expect(slept).toEqual([1_000]);
    await cluster.stop();
  });
});
