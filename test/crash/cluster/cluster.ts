// Several gateways over one PostgreSQL and one Redis, for one round: a proxy in front of each
// gateway, and one for each gateway in front of either server. The caller stops it: gateways,
// servers and proxies end. The folders of the gateways stay until they are discarded, for
// diagnosis.

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
  /** Between its clients and itself. */
  readonly clients: FaultProxy;
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

/** Clocks jump on SIGUSR2, some ahead and some back; an executable takes a preloaded module, too. */
const JUMPING_CLOCK = join(import.meta.dir, '../../support/jumping-clock.ts');
const HOUR_MS = 3_600_000;

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
    const startNode = async (index: number): Promise<ClusterNode> => {
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
          CLOCK_JUMP_MS: String(index % 2 === 0 ? HOUR_MS : -HOUR_MS),
        }),
        nextGeneration,
      );
      started.push(() => killer.gateway().kill());
      directories.push(killer.gateway().directory);
      const clients = await startFaultProxy({
        // It listens elsewhere after each start.
        get port() {
          return Number(new URL(killer.gateway().url).port);
        },
      });
      started.push(clients.close);
      return { killer, clients, ...proxies };
    };
    // At once: that they make their tables once is a part of what is tried.
    const nodes = await allOf(Array.from({ length: size }, (_, index) => startNode(index)));
    const directory = nodes[0]?.killer.gateway().directory ?? '';
    const environment = { ...SHARED_SETTINGS, DATABASE_URL: database, REDIS_URL: redis.url };
    return {
      ...{ nodes, postgres, redis, database, stop, discard },
      commands: { directory, environment },
      target: (random) => chooseTarget(nodes, random),
      nodeOf: ({ generation }) => nodes.find(({ killer }) => killer.generation() === generation),
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
  if (weighted.length > 0) return targetOf(random.pick(weighted));
  return Promise.race(nodes.map(targetOf));
}

async function targetOf({ killer, clients }: ClusterNode): Promise<Target> {
  const { url, generation } = await killer.target();
  return { url: new URL(clients.through(url)).origin, generation };
}
