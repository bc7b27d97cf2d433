// Redis fails for two nodes that share limits: it dies, hangs, loses its data, closes connections.
// With every fault each node serves its share, and no admission is forgotten.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Plan } from '../../../src/core/plan.ts';
import type { Redis } from '../../../src/store/redis/client.ts';
import { describeWithServices, type RedisServer, startRedis } from '../../support/services.ts';
import { waitUntil } from '../../support/upstream.ts';
import { PLAN } from '../world.ts';
import { type Cluster, connectRedis, createCluster } from './cluster.ts';

const TEN: Plan = { ...PLAN, requestsPerMinute: 10, concurrentRequests: 100 };

describeWithServices('limits while something happens to Redis', ['Redis'], () => {
  let server: RedisServer;
  let redis: Redis;
  let cluster: Cluster;

  async function connect(timeoutMs?: number): Promise<void> {
    redis = await connectRedis(server.url, timeoutMs);
    cluster = createCluster(redis, 2);
  }

  beforeEach(async () => {
    server = await startRedis();
    await connect();
  });

  afterEach(async () => {
    redis.close();
    await server.stop();
  });

  /** How many of so many requests are admitted there, one after the other. */
  async function admitted(node: number, requests: number, plan = TEN): Promise<number> {
    let count = 0;
    for (let request = 0; request < requests; request += 1) {
      const outcome = await cluster.claim(cluster.node(node), { plan });
      if (typeof outcome !== 'string') count += 1;
    }
    return count;
  }

  const used = async (node: number) =>
    (await cluster.node(node).limits.usage('acct_1', TEN)).requestsUsed;

  const modes = () => cluster.nodes.map(({ limits }) => limits.mode());

  async function expectShares(): Promise<void> {
    await waitUntil(() => !redis.isUp());
    expect(modes()).toEqual(['share', 'share']);
    // Half of ten each; the first node has used four of its own.
    expect(await admitted(0, 5)).toBe(1);
    expect(await admitted(1, 20)).toBe(5);
  }

  test('it is killed, and comes back empty', async () => {
    expect(await admitted(0, 4)).toBe(4);
    await server.kill();
    await expectShares();
    // By then the books know of them.
    cluster.wait(1_000);
    await server.start();
    await waitUntil(() => redis.isUp());
    expect(modes()).toEqual(['cluster', 'cluster']);
    expect([await admitted(0, 5), await admitted(1, 5), await used(0)]).toEqual([0, 0, 10]);
    cluster.wait(60_000);
    expect((await admitted(0, 7)) + (await admitted(1, 7))).toBe(10);
  }, 15_000);

  test('it stands still, and goes on', async () => {
    redis.close();
    await connect(400);
    expect(await admitted(0, 4)).toBe(4);
    server.pause();
    // While requests arrive, each waits for an answer that does not come, and no longer.
    const asked = [0, 0, 0, 0, 0].map(() => cluster.claim(cluster.node(0), { plan: TEN }));
    expect(await Promise.all(asked)).toContain('rate_limit_exceeded');
    while (redis.isUp()) await cluster.claim(cluster.node(1), { plan: TEN, account: 'acct_2' });
    expect(await admitted(0, 5)).toBe(0);
    expect(await admitted(1, 20)).toBe(5);
    server.resume();
    await waitUntil(() => redis.isUp());
    // What was admitted without it is reported without a further call.
    await cluster.idle(500);
    expect([await used(0), await used(1)]).toEqual([10, 10]);
    expect([await admitted(0, 5), await admitted(1, 5)]).toEqual([0, 0]);
  }, 15_000);

  test('it is emptied while it runs', async () => {
    expect((await admitted(0, 4)) + (await admitted(1, 2))).toBe(6);
    await server.ask('FLUSHALL');
    expect((await admitted(1, 9)) + (await admitted(0, 9))).toBe(4);
    expect([await used(0), await used(1)]).toEqual([10, 10]);
  });

  test('it is emptied while slots are in use and caps are charged', async () => {
    const plan = { ...TEN, requestsPerMinute: 99, concurrentRequests: 3, dailyTokens: 100 };
    const first = await cluster.claim(cluster.node(0), { plan });
    expect(await admitted(1, 1, plan)).toBe(1);
    await server.ask('FLUSHALL');
    for (const node of cluster.nodes) await node.limits.usage('acct_1', plan);
    // One slot is left, and what the two have reserved of the day counts still.
    expect((await admitted(0, 3, plan)) + (await admitted(1, 3, plan))).toBe(1);
    if (typeof first !== 'string') cluster.settle(first, 60);
    expect((await admitted(1, 3, plan)) + (await admitted(0, 3, plan))).toBe(0);
    expect((await cluster.node(1).limits.usage('acct_1', plan)).dayTokens).toBe(100);
  });

  test('it forgets its scripts', async () => {
    expect(await admitted(0, 4)).toBe(4);
    await server.ask('SCRIPT FLUSH');
    expect(await admitted(1, 9)).toBe(6);
    expect(modes()).toEqual(['cluster', 'cluster']);
  });

  test('it closes all connections', async () => {
    expect(await admitted(0, 4)).toBe(4);
    await server.ask('CLIENT KILL TYPE normal');
    await waitUntil(async () => (await used(1)) === 4 && redis.isUp());
    expect(await admitted(1, 9)).toBe(6);
  });

  describe('a node', () => {
    test('dies: its slots are free after half a minute, its permits with the window', async () => {
      const plan = { ...TEN, concurrentRequests: 3 };
      expect(await admitted(0, 3, plan)).toBe(3);
      // It renews nothing any more.
      cluster.node(0).state.isUp = false;
      for (const ms of [0, 29_999]) {
        cluster.wait(ms);
        expect(await admitted(1, 1, plan)).toBe(0);
      }
      cluster.wait(1);
      expect(await admitted(1, 9, plan)).toBe(3);
      expect(await used(1)).toBeGreaterThanOrEqual(6);
    });

    test('keeps the slots of requests that take long, and renews them', async () => {
      const plan = { ...TEN, requestsPerMinute: 99, concurrentRequests: 2 };
      expect(await admitted(0, 1, plan)).toBe(1);
      expect(await admitted(1, 1, plan)).toBe(1);
      for (let minute = 0; minute < 8; minute += 1) {
        await cluster.idle(10_000);
        expect(await admitted(minute % 2, 1, plan)).toBe(0);
      }
    });

    test.each([-86_400_000, -300_000, 300_000, 86_400_000])(
      'has a clock that jumps by %d ms: no window opens or closes',
      async (skewMs) => {
        expect(await admitted(0, 4)).toBe(4);
        cluster.node(0).state.skewMs = skewMs;
        expect(await admitted(0, 3)).toBe(3);
        cluster.wait(59_999);
        expect(await admitted(1, 9)).toBe(3);
        expect(await admitted(0, 1)).toBe(0);
        cluster.wait(1);
        expect((await admitted(0, 9)) + (await admitted(1, 9))).toBe(10);
      },
    );

    test('uses nothing of a window that is over', async () => {
      const plan = { ...TEN, requestsPerMinute: 60 };
      expect(await admitted(0, 1, plan)).toBe(1);
      cluster.wait(59_500);
      // The more it asks for within a second, the more it is given beyond that.
      expect(await admitted(0, 9, plan)).toBe(9);
      cluster.wait(600);
      expect(await admitted(1, 99, plan)).toBe(60);
      expect(await admitted(0, 9, plan)).toBe(0);
    });

    test('gives back what an answer gave it that was lost', async () => {
      const plan = { ...TEN, requestsPerMinute: 99, concurrentRequests: 3 };
      const { limits, state, tick } = cluster.node(0);
      expect(await admitted(0, 1, plan)).toBe(1);
      await cluster.idle(500);
      state.fate = 'has no reply';
      // Its share is in use already.
      expect(await admitted(0, 1, plan)).toBe(0);
      state.fate = 'arrives';
      const { exchanges } = limits.counts();
      cluster.wait(750);
      tick();
      await waitUntil(() => limits.counts().exchanges > exchanges);
      expect(await admitted(1, 9, plan)).toBe(2);
    });

    test('gives back what it does not use', async () => {
      const plan = { ...TEN, requestsPerMinute: 100 };
      // The second and the third time it is given more than it asks for.
      expect(await admitted(0, 3, plan)).toBe(3);
      for (const each of cluster.admitted) cluster.settle(each, 1);
      const { limits, tick } = cluster.node(0);
      const { exchanges } = limits.counts();
      cluster.wait(750);
      tick();
      await waitUntil(() => limits.counts().exchanges > exchanges);
      expect(await used(1)).toBe(3);
      expect(await admitted(1, 200, plan)).toBe(97);
    });
  });
});
