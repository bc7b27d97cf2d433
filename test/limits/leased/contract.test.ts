// The limits of a cluster pass the suite of the contract as one node of it, over a real Redis.

import { afterAll, beforeAll } from 'bun:test';
import { createLeasedLimits, type LeasedLimits } from '../../../src/limits/leased/leased.ts';
import { createLimits } from '../../../src/limits/limits.ts';
import { createRedis, type Redis } from '../../../src/store/redis/client.ts';
import { readRedisUrl } from '../../../src/store/redis/target.ts';
import { describeWithServices, type RedisServer, startRedis } from '../../support/services.ts';
import { describeLimits } from '../contract.ts';
import type { OpenLimits } from '../world.ts';

describeWithServices('limits', ['Redis'], () => {
  let server: RedisServer;
  let redis: Redis;
  let last: LeasedLimits | undefined;
  let opened = 0;

  beforeAll(async () => {
    server = await startRedis();
    const target = readRedisUrl(server.url);
    if ('problem' in target) throw new Error(target.problem);
    redis = createRedis({ target: target.value, onChange: () => {} });
    await redis.waitUntilUp(5_000);
  });

  afterAll(async () => {
    await last?.stop();
    redis.close();
    await server.stop();
  });

  // What has to be found after a restart comes from the books: nothing is left in this Redis.
  const open: OpenLimits = async (dependencies) => {
    await last?.stop();
    opened += 1;
    last = createLeasedLimits({
      ...dependencies,
      redis,
      local: createLimits(dependencies),
      holder: `node_${opened}`,
      liveNodes: () => 1,
      sleep: Bun.sleep,
      prefix: `tollgate:${opened}:`,
      redisClock: () => 1_700_000_000_000 + Math.floor(dependencies.monotonic()),
    });
    return last;
  };

  describeLimits('leased from Redis', open, 0.04);
});
