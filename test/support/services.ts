// PostgreSQL and Redis for tests: real servers, each in a temporary directory and on a free port. A
// test that needs them is in a group of `describeWithServices`, and stops what it starts.

import { describe } from 'bun:test';
import { findPostgres } from './postgres-server.ts';
import { findRedis } from './redis-server.ts';
import { describeSlow, TIER } from './tier.ts';

export { type PostgresServer, sharedPostgres, startPostgres } from './postgres-server.ts';
export {
  type RedisGroup,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
} from './redis-server.ts';

export type ServiceName = 'PostgreSQL' | 'Redis';

const FIND = { PostgreSQL: findPostgres, Redis: findRedis };

/**
 * A group of tests that need servers of others. On a machine without them they are skipped, and say
 * so; where CI is true they fail, because the hint would not be read there.
 */
export function describeWithServices(
  name: string,
  needed: readonly ServiceName[],
  body: () => void | Promise<void>,
): void {
  const missing = needed.filter((service) => FIND[service]() === undefined);
  const skipped = missing.length > 0 && process.env['CI'] !== 'true';
  if (skipped) process.stderr.write(`skipped, as there is no ${missing.join(', no ')}: ${name}\n`);
  describe.skipIf(skipped)(name, body);
}

/** The same for tests that only the tier `all` runs. */
export const describeSlowWithServices: typeof describeWithServices = (name, needed, body) =>
  TIER === 'all' ? describeWithServices(name, needed, body) : describeSlow(name, body);
