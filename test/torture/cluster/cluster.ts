// Several gateways over one PostgreSQL and one Redis, each of them behind a proxy of its own, as one
// round of the rig has them. Who starts one stops it: gateways, servers and proxies end. The folders
// of the gateways stay until they are discarded, for whoever has to find out what went wrong.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import {
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
} from '../../support/services.ts';
import type { Target } from '../client.ts';
import type { CommandPlace } from '../credits.ts';
import { countStarts, gatewayOf, type Killer, startKiller } from '../killer.ts';
import type { Random } from '../random.ts';

export type ClusterNode = {
  readonly killer: Killer;
  readonly postgres: FaultProxy;
  readonly redis: FaultProxy;
};

export type Cluster = {
  readonly nodes: readonly ClusterNode[];
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** Of the nodes' database, without a proxy. */
  readonly database: string;
  /** Commands work beside the servers, with connections that no fault hits. */
  readonly commands: CommandPlace;
  /** A node that serves, some more often than others; waits while none does. */
  readonly target: (random: Random) => Promise<Target>;
  readonly nodeOf: (target: Target) => ClusterNode | undefined;
  readonly stop: () => Promise<void>;
  readonly discard: () => Promise<void>;
};

/** Its clock is set an hour ahead on SIGUSR2; an executable takes a preloaded module, too. */
const JUMPING_CLOCK = join(import.meta.dir, '../../support/jumping-clock.ts');

export async function startCluster(catalog: string, size: number): Promise<Cluster> {
  const started: (() => Promise<unknown>)[] = [];
  const directories: string[] = [];
  const stop = async () => {
    for (const end of started.reverse().splice(0)) await end();
  };
  const discard = async () => {
    for (const each of directories) await rm(each, { recursive: true, force: true });
  };
  try {
    const postgres = await startPostgres();
    started.push(async () => {
      const [directory] = directories;
      if (directory !== undefined) await Bun.write(join(directory, 'postgres.log'), postgres.log());
      await postgres.stop();
    });
    const redis = await startRedis();
    started.push(redis.stop);
    const database = await postgres.createDatabase();
    const nextGeneration = countStarts();
    const startNode = async (): Promise<ClusterNode> => {
      const proxies = {
        postgres: await startFaultProxy(postgres, 'postgres'),
        redis: await startFaultProxy(redis, 'redis'),
      };
      started.push(proxies.postgres.close, proxies.redis.close);
      const killer = await startKiller(
        gatewayOf(catalog, {
          ...SHARED_SETTINGS,
          DATABASE_URL: proxies.postgres.through(database),
          REDIS_URL: proxies.redis.through(redis.url),
          BUN_OPTIONS: `--preload ${JUMPING_CLOCK}`,
        }),
        nextGeneration,
      );
      started.push(() => killer.gateway().kill());
      directories.push(killer.gateway().directory);
      return { killer, ...proxies };
    };
    // At once: that they make their tables once is a part of what is tried.
    const nodes = await allOf(Array.from({ length: size }, startNode));
    const directory = nodes[0]?.killer.gateway().directory ?? '';
    const environment = { ...SHARED_SETTINGS, DATABASE_URL: database, REDIS_URL: redis.url };
    return {
      ...{ nodes, postgres, redis, database, stop, discard },
      commands: { directory, environment },
      target: (random) => chooseTarget(nodes, random),
      nodeOf: ({ url }) => nodes.find(({ killer }) => killer.gateway().url === url),
    };
  } catch (error) {
    await stop();
    await discard();
    throw error;
  }
}

const SHARED_SETTINGS = {
  SESSION_SECRET: 'one secret of all nodes, which is long enough to be one',
};

/** Like `Promise.all`, but lets the others come to their end before it fails, so that they stop. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** The first node gets most, the last one least. */
async function chooseTarget(nodes: readonly ClusterNode[], random: Random): Promise<Target> {
  const up = nodes.filter(({ killer }) => killer.isUp());
  const weighted = up.flatMap((node, index) => Array<ClusterNode>(nodes.length - index).fill(node));
  if (weighted.length > 0) return random.pick(weighted).killer.target();
  return Promise.race(nodes.map(({ killer }) => killer.target()));
}
