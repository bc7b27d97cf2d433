// Connections of ioredis to what `REDIS_URL` names, with the settings that a limiter on the way of
// a request needs: nothing is queued while there is no connection, no command waits longer than
// 150 ms, and none is sent again by itself. Only the client beside it opens any.

import { Cluster, Redis } from 'ioredis';
import type { RedisTarget } from '../../core/redis-url.ts';

export type RedisConnection = Redis | Cluster;

/** Longer than that, and a request is better served without Redis. */
export const COMMAND_MS = 150;
const CONNECT_MS = 2_000;
/** No request waits for a subscription. */
const SUBSCRIBER_MS = 1_000;
const RECONNECT_MS_MAX = 1_000;

/** For commands. Connects by itself, again and again. */
export function connectCommands(target: RedisTarget, timeoutMs: number): RedisConnection {
  const options = optionsOf(target, timeoutMs);
  if (target.kind !== 'cluster') return new Redis({ ...options, ...placeOf(target) });
  return new Cluster(
    target.addresses.map(({ host, port }) => ({ host, port })),
    {
      enableOfflineQueue: false,
      clusterRetryStrategy: reconnectMs,
      // Else a slot that has no owner is asked for again for seconds.
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
 * For one subscription: it connects once. `attempt` chooses among the nodes of a cluster, each of
 * which hears what is published at any other.
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
    // Hears of a new primary at once.
    failoverDetector: true,
  };
}

function reconnectMs(attempts: number): number {
  return Math.min(50 * attempts, RECONNECT_MS_MAX);
}
