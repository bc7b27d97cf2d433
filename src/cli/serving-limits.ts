// The limits of a server: its own, those of the cluster by way of Redis, or its share of them where
// there are several nodes and no Redis. Made by whoever makes the way of a request.

import { type RandomBytes, randomText } from '../core/id.ts';
import type { AccountLimits, LimitsDependencies } from '../limits/contract.ts';
import { createLeasedLimits, type LeasedCounts } from '../limits/leased/leased.ts';
import { createShareLimits } from '../limits/leased/share-limits.ts';
import type { Log } from '../observe/log.ts';
import { createRedis, type Redis, type RedisCounts } from '../store/redis/client.ts';
import type { RedisTarget } from '../store/redis/target.ts';

/** A server that starts waits so long for Redis, and then begins without it. */
const START_MS = 2_000;

/** own: this node is all there is; cluster: all nodes are counted; share: each for itself. */
export type LimitsMode = 'own' | 'cluster' | 'share';

export type ServingLimits = {
  readonly limits: AccountLimits;
  readonly state: () => LimitsState;
  /** Gives back what was leased and is not used, and lets go of Redis. */
  readonly close: () => Promise<void>;
};

export type LimitsState = {
  readonly mode: LimitsMode;
  /** `off` where none is set. */
  readonly redis: 'off' | 'up' | 'down';
  readonly decisions: LeasedCounts;
  readonly commands: RedisCounts;
};

export type ServingLimitsOptions = LimitsDependencies & {
  /** Those of this process or of its threads. */
  readonly local: AccountLimits;
  /** Undefined where none is set. */
  readonly redis: Redis | undefined;
  readonly liveNodes: () => number;
  readonly randomBytes: RandomBytes;
};

const NO_DECISIONS: LeasedCounts = { local: 0, exchanged: 0, shared: 0, exchanges: 0 };

/**
 * A connection of this thread's own, for its limits, or to hear what other nodes have changed. Waits
 * a little for it; a server whose Redis is away begins all the same.
 */
export async function openServingRedis(
  target: RedisTarget | undefined,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Redis | undefined> {
  if (target === undefined) return undefined;
  const redis = createRedis({
    target,
    onChange(isUp, reason) {
      if (isUp) log.info('redis: answers; limits are those of the cluster');
      else log.warn(`redis: away (${reason}); each node serves its share of the limits`);
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
      state: () => ({
        mode: liveNodes() > 1 ? 'share' : 'own',
        redis: 'off',
        decisions: NO_DECISIONS,
        commands: { roundTrips: 0, failures: 0 },
      }),
      close: async () => undefined,
    };
  }
  const limits = createLeasedLimits({
    ...options,
    redis,
    holder: randomText(16, randomBytes),
    sleep: Bun.sleep,
    every(ms, run) {
      const timer = setInterval(run, ms);
      return () => clearInterval(timer);
    },
  });
  return {
    limits,
    state: () => ({
      mode: limits.mode(),
      redis: redis.isUp() ? 'up' : 'down',
      decisions: limits.counts(),
      commands: redis.counts(),
    }),
    async close() {
      await limits.stop();
      redis.close();
    },
  };
}
