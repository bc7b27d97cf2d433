// The faults of a cluster: one at a time, played from its start until everything has recovered,
// with the disruption that requests may see during it. The laws excuse no more than the gateway's
// guarantees allow.

import type { Fault } from '../../support/fault-proxy.ts';
import { waitUntil } from '../../support/upstream.ts';
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
  'slow a node',
  'cut off clients',
  'drop replies',
  'duplicate replies',
  'cut replies',
  'reset replies',
] as const;

export type ClusterFaultName = (typeof CLUSTER_FAULTS)[number];

/** What a fault was, and what it excuses. */
export type Played = {
  readonly name: ClusterFaultName;
  /** Whether there was anything for it to break. */
  readonly hasHit: boolean;
  readonly troubles: readonly Trouble[];
};

export type FaultScene = {
  readonly cluster: Cluster;
  readonly random: Random;
  /** How long what is stalled stays so, and what is apart at most. */
  readonly stallMs: number;
  /** Exit codes of nodes that received a stop signal. */
  readonly exits: number[];
};

/**
 * After all is mended, a node needs so long to notice: a heartbeat is due every second, a question to
 * PostgreSQL that was in progress is given up after three, and Redis is probed every two.
 */
const NOTICE_MS = 4_000;

/** PostgreSQL ends an idle transaction after five seconds, and who waits for its locks after one. */
const IDLE_LOCKS_MS = 6_000;

/** A dead node's locks go with its connection, or with the statement that is running there. */
const DEAD_LOCKS_MS = 3_000;

/** What had been held back on its way comes at once. */
const DELIVERED_MS = 500;

/** From the fault's beginning to a while after its end, for all nodes, unless it says otherwise. */
type Kept = Pick<Trouble, 'keepsFrom'> & Partial<Pick<Trouble, 'generation' | 'fromMs' | 'toMs'>>;

type Play = {
  readonly kept: readonly Kept[];
  /** True by default. */
  readonly hasHit?: boolean;
};

export async function playFault(name: ClusterFaultName, scene: FaultScene): Promise<Played> {
  const fromMs = Date.now();
  const { kept, hasHit = true } = await PLAYS[name](scene);
  const toMs = Date.now() + NOTICE_MS;
  const troubles = kept.map((each) => ({ name, generation: undefined, fromMs, toMs, ...each }));
  return { name, hasHit, troubles };
}

const PLAYS: Readonly<Record<ClusterFaultName, (scene: FaultScene) => Promise<Play>>> = {
  async 'kill a node'({ cluster, random }) {
    const { killer } = random.pick(cluster.nodes);
    await killer.killOnce({
      afterMs: 0,
      trigger: random.pick([...TRIGGERS, 'bill', 'bill'] as const),
      delayMs: random.pick(KILL_DELAYS_MS),
      downMs: random.pick([0, 500, 3_000]),
    });
    const fromMs = killer.kills.at(-1)?.atMs ?? Date.now();
    return { kept: [{ keepsFrom: 'locks', fromMs, toMs: fromMs + DEAD_LOCKS_MS }] };
  },
  async 'restart a node'({ cluster, random, exits }) {
    exits.push(await random.pick(cluster.nodes).killer.restart());
    return { kept: [] };
  },
  async 'kill Redis'({ cluster, random }) {
    await cluster.redis.kill();
    await Bun.sleep(random.whole(0, 2_000));
    await cluster.redis.start();
    return { kept: [{ keepsFrom: 'limits' }] };
  },
  async 'stall Redis'({ cluster, stallMs }) {
    await withFault(
      cluster.nodes.map(({ redis }) => redis),
      { kind: 'stall' },
      stallMs,
    );
    return { kept: [{ keepsFrom: 'limits' }] };
  },
  async 'crash PostgreSQL'({ cluster, random }) {
    await cluster.postgres.shutDown(random.pick(['immediate', 'fast'] as const));
    await Bun.sleep(random.whole(0, 1_500));
    await cluster.postgres.start();
    return { kept: [{ keepsFrom: 'database' }] };
  },
  async 'partition a node'({ cluster, random, stallMs }) {
    const { killer, postgres, redis } = random.pick(cluster.nodes);
    const generation = killer.generation();
    const fromMs = Date.now();
    const apartMs = stallMs * random.pick([0.1, 0.4, 1]);
    await withFault([postgres, redis], { kind: 'stall' }, apartMs);
    return {
      kept: [
        { keepsFrom: 'database', generation },
        { keepsFrom: 'limits', generation },
        // The others wait for what it had locked, and again when what it had sent comes through.
        { keepsFrom: 'locks', fromMs, toMs: fromMs + IDLE_LOCKS_MS },
        { keepsFrom: 'locks', fromMs: fromMs + apartMs },
      ],
    };
  },
  async 'jump a clock'({ cluster, random }) {
    const { pid, output } = random.pick(cluster.nodes).killer.gateway();
    const jumps = () => output().split('the wall clock has jumped').length;
    const before = jumps();
    process.kill(pid, 'SIGUSR2');
    await waitUntil(() => jumps() > before);
    return { kept: [] };
  },
  async 'slow a node'({ cluster, random }) {
    const node = random.pick(cluster.nodes);
    node.postgres.set({ kind: 'latency', ms: random.whole(2, 20) });
    node.redis.set({ kind: 'latency', ms: random.pick([5, 50, 200]) });
    await withFault([node.clients], { kind: 'latency', ms: random.whole(5, 100) }, 1_500);
    node.postgres.clear();
    node.redis.clear();
    return { kept: ofNode(node) };
  },
  async 'cut off clients'({ cluster, random }) {
    const node = random.pick(cluster.nodes);
    const { clients } = node;
    await withFault([clients], { kind: 'stall' }, random.whole(200, 1_000));
    await withFault([clients], { kind: 'refuse' }, random.whole(50, 200));
    const cut = await hitOne(clients, { kind: 'cut' });
    const reset = await hitOne(clients, { kind: 'reset' });
    const generation = node.killer.generation();
    const toMs = Date.now() + DELIVERED_MS;
    return { kept: [{ keepsFrom: 'clients', generation, toMs }], hasHit: cut && reset };
  },
  'drop replies': (scene) => harmReplies(scene, 'drop'),
  'duplicate replies': (scene) => harmReplies(scene, 'duplicate'),
  'cut replies': (scene) => harmReplies(scene, 'cut'),
  'reset replies': (scene) => harmReplies(scene, 'reset'),
};

/** The replies of one node, one after the other: one of PostgreSQL, then one of Redis. */
async function harmReplies(
  { cluster, random }: FaultScene,
  kind: 'drop' | 'duplicate' | 'cut' | 'reset',
): Promise<Play> {
  const node = random.pick(cluster.nodes);
  const hits: boolean[] = [];
  for (const proxy of [node.postgres, node.redis]) {
    hits.push(await hitOne(proxy, { kind }));
    await Bun.sleep(random.whole(0, 300));
  }
  return { kept: ofNode(node), hasHit: hits.every(Boolean) };
}

/** The node itself is troubled, and every node that waits for its locks. */
function ofNode({ killer }: ClusterNode): readonly Kept[] {
  const generation = killer.generation();
  return [
    { keepsFrom: 'database', generation },
    { keepsFrom: 'limits', generation },
    { keepsFrom: 'locks' },
  ];
}

type Proxy = ClusterNode['postgres'];

async function withFault(proxies: readonly Proxy[], fault: Fault, ms: number): Promise<void> {
  for (const proxy of proxies) proxy.set(fault);
  await Bun.sleep(ms);
  for (const proxy of proxies) proxy.clear();
}

const HIT_WITHIN_MS = 5_000;

/** Waits until the fault has hit; a server that is not asked has no reply to harm. */
async function hitOne(proxy: Proxy, fault: Fault): Promise<boolean> {
  const hits = () => Object.values(proxy.counts().hits).reduce((sum, count) => sum + count, 0);
  const before = hits();
  const untilMs = Date.now() + HIT_WITHIN_MS;
  proxy.set(fault);
  while (hits() === before && Date.now() < untilMs) await Bun.sleep(5);
  proxy.clear();
  return hits() > before;
}
