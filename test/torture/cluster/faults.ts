// What can happen to a cluster: one fault at a time, played from its beginning until all is mended
// again, and the trouble that it means for whoever is served meanwhile.

import type { Fault } from '../../support/fault-proxy.ts';
import type { Trouble } from '../books.ts';
import { KILL_DELAYS_MS, TRIGGERS } from '../killer.ts';
import type { Random } from '../random.ts';
import type { Cluster, ClusterNode } from './cluster.ts';

export const CLUSTER_FAULTS = [
  'kill a node',
  'restart a node',
  'kill Redis',
  'stall Redis',
  'crash PostgreSQL',
  'partition a node',
  'jump a clock',
  'drop replies',
  'duplicate replies',
  'cut replies',
] as const;

export type ClusterFaultName = (typeof CLUSTER_FAULTS)[number];

/** What a fault was, and what it excuses. */
export type Played = { readonly name: ClusterFaultName; readonly troubles: readonly Trouble[] };

export type FaultScene = {
  readonly cluster: Cluster;
  readonly random: Random;
  /** How long what is stalled or apart stays so. */
  readonly stallMs: number;
  /** Exit codes of nodes that were told to stop. */
  readonly exits: number[];
};

/** After a fault is mended, a node may need so long to notice. */
const NOTICE_MS = 6_000;

/** What was let in unseen is in flight for some time. */
const FORGET_MS = 30_000;

export async function playFault(name: ClusterFaultName, scene: FaultScene): Promise<Played> {
  const fromMs = Date.now();
  const kept = await PLAYS[name](scene);
  const untilMs = Date.now();
  const troubles = kept.map(({ keepsFrom, generation }): Trouble => {
    const afterMs = keepsFrom === 'limits' ? FORGET_MS : NOTICE_MS;
    return { name, keepsFrom, generation, fromMs, toMs: untilMs + afterMs };
  });
  return { name, troubles };
}

type Kept = Pick<Trouble, 'keepsFrom' | 'generation'>;

const LIMITS_OF_ALL: Kept = { keepsFrom: 'limits', generation: undefined };
const BOOKS_OF_ALL: Kept = { keepsFrom: 'database', generation: undefined };
const LOCKS_OF_ALL: Kept = { keepsFrom: 'locks', generation: undefined };

const PLAYS: Readonly<Record<ClusterFaultName, (scene: FaultScene) => Promise<readonly Kept[]>>> = {
  async 'kill a node'({ cluster, random }) {
    await random.pick(cluster.nodes).killer.killOnce({
      afterMs: 0,
      trigger: random.pick([...TRIGGERS, 'bill', 'bill'] as const),
      delayMs: random.pick(KILL_DELAYS_MS),
      downMs: random.pick([0, 500, 3_000]),
    });
    return [LOCKS_OF_ALL];
  },
  async 'restart a node'({ cluster, random, exits }) {
    exits.push(await random.pick(cluster.nodes).killer.restart());
    return [];
  },
  async 'kill Redis'({ cluster, random }) {
    await cluster.redis.kill();
    await Bun.sleep(random.whole(0, 2_000));
    await cluster.redis.start();
    return [LIMITS_OF_ALL];
  },
  async 'stall Redis'({ cluster, stallMs }) {
    const proxies = cluster.nodes.map(({ redis }) => redis);
    for (const proxy of proxies) proxy.set({ kind: 'stall' });
    await Bun.sleep(stallMs);
    for (const proxy of proxies) proxy.clear();
    return [LIMITS_OF_ALL];
  },
  async 'crash PostgreSQL'({ cluster, random }) {
    await cluster.postgres.shutDown('immediate');
    await Bun.sleep(random.whole(0, 1_500));
    await cluster.postgres.start();
    return [BOOKS_OF_ALL];
  },
  async 'partition a node'({ cluster, random, stallMs }) {
    const { killer, postgres, redis } = random.pick(cluster.nodes);
    postgres.set({ kind: 'stall' });
    redis.set({ kind: 'stall' });
    await Bun.sleep(stallMs);
    postgres.clear();
    redis.clear();
    // The others share among themselves while it is held for dead, and it goes on with its share.
    const generation = killer.generation();
    return [{ keepsFrom: 'database', generation }, LOCKS_OF_ALL, LIMITS_OF_ALL];
  },
  async 'jump a clock'({ cluster, random }) {
    process.kill(random.pick(cluster.nodes).killer.gateway().pid, 'SIGUSR2');
    return [];
  },
  'drop replies': (scene) => harmReplies(scene, 'drop'),
  'duplicate replies': (scene) => harmReplies(scene, 'duplicate'),
  'cut replies': (scene) => harmReplies(scene, 'cut'),
};

/** One node after the other: a reply of PostgreSQL, then one of Redis. */
async function harmReplies(
  { cluster, random }: FaultScene,
  kind: 'drop' | 'duplicate' | 'cut',
): Promise<readonly Kept[]> {
  const node = random.pick(cluster.nodes);
  for (const proxy of [node.postgres, node.redis]) {
    await hitOne(proxy, { kind });
    await Bun.sleep(random.whole(0, 300));
  }
  const generation = node.killer.generation();
  return [{ keepsFrom: 'database', generation }, LOCKS_OF_ALL, LIMITS_OF_ALL];
}

const HIT_WITHIN_MS = 2_000;

/** Waits until the fault has hit; a server that is not asked has no reply to harm. */
async function hitOne(proxy: ClusterNode['postgres'], fault: Fault): Promise<void> {
  const hits = () => Object.values(proxy.counts().hits).reduce((sum, count) => sum + count, 0);
  const before = hits();
  const untilMs = Date.now() + HIT_WITHIN_MS;
  proxy.set(fault);
  while (hits() === before && Date.now() < untilMs) await Bun.sleep(5);
  proxy.clear();
}
