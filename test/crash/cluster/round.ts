// One round of a cluster: the common parts of a round, and one fault after the other. Judged
// elsewhere.

import { createRandom } from '../random.ts';
import { type Broken, playShow, type RoundResult } from '../round.ts';
import { crashCatalog } from '../setup.ts';
import { startCrashUpstream } from '../upstream.ts';
import { type Cluster, startCluster } from './cluster.ts';
import {
  CLUSTER_FAULTS,
  type ClusterFaultName,
  type FaultScene,
  type Played,
  playFault,
} from './faults.ts';

export type ClusterRoundOptions = {
  readonly seed: number;
  readonly nodes: number;
  /** How long the load lasts at least; a fault that has begun is played to its end. */
  readonly seconds: number;
  /** How long what is stalled or apart stays so, in seconds. */
  readonly stallSeconds: number;
  /** Played first, in this order; then what the seed draws. */
  readonly faults?: readonly ClusterFaultName[];
};

/** The slots of a node that died are promised to be free after so long. */
const SLOTS_LAPSE_MS = 30_000;

export async function playClusterRound(options: ClusterRoundOptions): Promise<RoundResult> {
  const random = createRandom(options.seed);
  let cluster: Cluster | undefined;
  await using upstream = await startCrashUpstream((trigger) => {
    for (const { killer } of cluster?.nodes ?? []) killer.happened(trigger);
  });
  cluster = await startCluster(crashCatalog(upstream.upstream), options.nodes);
  const { nodes, commands, database, nodeOf, target } = cluster;
  const targets = random.fork('targets');
  const scene = { cluster, random: random.fork('faults'), stallMs: options.stallSeconds * 1_000 };
  try {
    const books = await playShow({
      ...{ random, upstream, commands, database },
      killers: nodes.map(({ killer }) => killer),
      target: () => target(targets),
      happened: (trigger, asked) => nodeOf(asked)?.killer.happened(trigger),
      slotsLapseMs: SLOTS_LAPSE_MS,
      breakThings: () => playFaults(options, scene),
    });
    return { books, directory: commands.directory, discard: cluster.discard };
  } finally {
    await cluster.stop();
  }
}

/** The first fault is the next one with each seed, so that a long run leaves none out. */
async function playFaults(
  { seed, seconds, faults }: ClusterRoundOptions,
  scene: Omit<FaultScene, 'exits'>,
): Promise<Broken> {
  const { random } = scene;
  const exits: number[] = [];
  const untilMs = Date.now() + seconds * 1_000;
  const played: Played[] = [];
  const turn = seed % CLUSTER_FAULTS.length;
  const next = [...(faults ?? CLUSTER_FAULTS.filter((_, index) => index === turn))];
  for (;;) {
    await Bun.sleep(random.whole(200, 1_500));
    const name = next.shift() ?? (Date.now() < untilMs ? random.pick(CLUSTER_FAULTS) : undefined);
    if (name === undefined) break;
    played.push(await playFault(name, { ...scene, exits }));
  }
  return {
    troubles: played.flatMap(({ troubles }) => troubles),
    played: played.filter(({ hasHit }) => hasHit).map(({ name }) => name),
    exits,
  };
}
