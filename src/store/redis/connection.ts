// Opens ioredis connections to `REDIS_URL` with settings for a limiter on the request path: no
// queue while disconnected, a command timeout of 150 ms, no automatic resends. Only the client
// beside it opens connections.

import { Cluster, Redis } from 'ioredis';
import type { RedisTarget } from '../../core/redis-url.ts';

export type RedisConnection = Redis | Cluster;

/** A request is better served without Redis than by waiting longer. */
export const COMMAND_MS = 150;
const CONNECT_MS = 2_000;
/** No request waits for a subscription. */
const SUBSCRIBER_MS = 1_000;
const RECONNECT_MS_MAX = 1_000;

/** For commands. Reconnects by itself. */
export function connectCommands(target: RedisTarget, timeoutMs: number): RedisConnection {
  const options = optionsOf(target, timeoutMs);
  if (target.kind !== 'cluster') return new Redis({ ...options, ...placeOf(target) });
  return new Cluster(
    target.addresses.map(({ host, port }) => ({ host, port })),
    {
      enableOfflineQueue: false,
      clusterRetryStrategy: reconnectMs,
      // Otherwise a slot without an owner is retried for seconds.
      retryDelayOnFailover: 20,
      retryDelayOnClusterDown: 20,
      retryDelayOnTryAgain: 20,
      maxRedirections: 4,
      slotsRefreshTimeout: CONNECT_MS,
      slotsRefreshInterval: 5_000,
      redisOptions: options,
    },
  );
}

/**
 * For one subscription: connects once. `attempt` selects a node of a cluster; every node receives
 * all published messages.
 */
export function connectSubscriber(target: RedisTarget, attempt: number): Redis {
  const { addresses, kind } = target;
  const address = addresses[attempt % addresses.length];
  const place = kind === 'cluster' ? { ...address } : placeOf(target);
  return new Redis({
    ...optionsOf(target, SUBSCRIBER_MS),
    ...place,
    autoResubscribe: false,
    retryStrategy: () => null,
  });
}

function optionsOf({ username, password, tls }: RedisTarget, commandTimeout: number) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectTimeout: CONNECT_MS,
    commandTimeout,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: reconnectMs,
    connectionName: 'tollgate',
    disableClientInfo: true,
  };
}

function placeOf({ kind, addresses, primary, database, tls }: RedisTarget) {
  if (kind !== 'sentinel' || primary === undefined) return { ...addresses[0], db: database };
  return {
    sentinels: addresses.map(({ host, port }) => ({ host, port })),
    name: primary,
    db: database,
    enableTLSForSentinelMode: tls,
    sentinelRetryStrategy: reconnectMs,
    sentinelCommandTimeout: CONNECT_MS,
    // Learns of a new primary at once.
    failoverDetector: true,
  };
}

function reconnectMs(attempts: number): number {
  return Math.min(50 * attempts, RECONNECT_MS_MAX);
}
