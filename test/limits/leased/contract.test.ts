// The limits of a cluster pass the contract as one node, over a real Redis.

import { afterAll, beforeAll, expect } from 'bun:test';
import { createLeasedLimits, type LeasedLimits } from '../../../src/limits/leased/leased.ts';
import { createLimits } from '../../../src/limits/limits.ts';
import type { Redis } from '../../../src/store/redis/client.ts';
import { describeWithServices, type RedisServer, startRedis } from '../../support/services.ts';
import { describeLimits } from '../contract.ts';
import type { OpenLimits } from '../world.ts';
import { connectRedis } from './cluster.ts';

describeWithServices('limits', ['Redis'], () => {
  let server: RedisServer;
  let redis: Redis;
  let last: LeasedLimits | undefined;
  let opened = 0;

  beforeAll(async () => {
    server = await startRedis();
    redis = await connectRedis(server.url);
  });

  // Else the suite would try the limits of the node, which decide without Redis.
  function expectLeased(): void {
    expect(last?.counts().shared ?? 0).toBe(0);
  }

  afterAll(async () => {
    expectLeased();
    await last?.stop();
    redis.close();
    await server.stop();
  });

  // What has to be found after a restart comes from the books: nothing is left in this Redis.
  const open: OpenLimits = async (dependencies) => {
    expectLeased();
    await last?.stop();
    opened += 1;
    last = createLeasedLimits({
      ...dependencies,
      redis: { ...redis, subscribe: () => () => {} },
      local: createLimits(dependencies),
      holder: `node_${opened}`,
      liveNodes: () => 1,
      sleep: Bun.sleep,
      every: () => () => {},
      prefix: `tollgate:${opened}:`,
      redisClock: () => 1_700_000_000_000 + Math.floor(dependencies.monotonic()),
    });
    return last;
  };

  describeLimits('leased from Redis', open, 0.02);
});
