// Chooses the limits of a server: local ones, those of the cluster in Redis, or a share per node
// where there are several nodes and no Redis.

import { every } from '../async/every.ts';
import { type RandomBytes, randomText } from '../core/id.ts';
import type { RedisTarget } from '../core/redis-url.ts';
import type { AccountLimits, LimitsDependencies } from '../limits/contract.ts';
import { createLeasedLimits } from '../limits/leased/leased.ts';
import { createShareLimits } from '../limits/leased/share-limits.ts';
import { type LimitsLoad, OWN_LIMITS } from '../limits/load.ts';
import type { Log } from '../observe/log.ts';
import type { Redis } from '../store/redis/client.ts';

/** How long a start waits for Redis before it continues without it. */
const START_MS = 2_000;

export type ServingLimits = {
  readonly limits: AccountLimits;
  readonly load: () => LimitsLoad;
  /** Returns leases that are not used. */
  readonly close: () => Promise<void>;
};

export type ServingLimitsOptions = LimitsDependencies & {
  /** The limits of this process. */
  readonly local: AccountLimits;
  /** Undefined where `REDIS_URL` is not set. */
  readonly redis: Redis | undefined;
  readonly liveNodes: () => number;
  readonly randomBytes: RandomBytes;
};

/**
 * A Redis connection for the limits or for notifications of other nodes. Waits briefly for it; the
 * server starts without Redis if it does not connect.
 */
export async function openServingRedis(
  target: RedisTarget | undefined,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Redis | undefined> {
  if (target === undefined) return undefined;
  const { createRedis } = await import('../store/redis/client.ts');
  const redis = createRedis({
    target,
    onChange(isUp, reason) {
      if (isUp) log.info('redis: up; limits are those of the cluster');
      else log.warn(`redis: down (${reason}); each node serves its share of the limits`);
    },
  });
  await redis.waitUntilUp(START_MS);
  if (!redis.isUp()) log.warn('redis: not reached yet; each node serves its share of the limits');
  return redis;
}

export function createServingLimits(options: ServingLimitsOptions): ServingLimits {
  const { local, redis, liveNodes, randomBytes } = options;
  if (redis === undefined) {
    return {
      limits: createShareLimits(local, liveNodes),
      load: () => ({ ...OWN_LIMITS, mode: liveNodes() > 1 ? 'share' : 'own' }),
      close: async () => undefined,
    };
  }
  const limits = createLeasedLimits({
    ...options,
    redis,
    holder: randomText(16, randomBytes),
    sleep: Bun.sleep,
    every,
  });
  return {
    limits,
    load() {
      const { local: leased, exchanged, shared } = limits.counts();
      const { roundTrips: commands, failures } = redis.counts();
      const state = redis.isUp() ? 'up' : 'down';
      return { mode: limits.mode(), redis: state, leased, exchanged, shared, commands, failures };
    },
    close: limits.stop,
  };
}
