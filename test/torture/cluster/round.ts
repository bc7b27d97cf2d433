// One round of a cluster: clients of several accounts, an upstream, top-ups, and one fault after the
// other; then all is mended, comes to rest, and the books are read. It judges nothing.

import type { Books, Verdict } from '../books.ts';
import { burst } from '../burst.ts';
import { readLedger } from '../ledger.ts';
import {
  askAs,
  askForVerdicts,
  funded,
  playClients,
  playCredits,
  playSamples,
  type Stage,
  watchLag,
} from '../parties.ts';
import { createRandom } from '../random.ts';
import { createAccounts, type RoundResult, rest } from '../round.ts';
import { sceneCatalog } from '../scene.ts';
import { startTortureUpstream } from '../upstream.ts';
import { type Cluster, type ClusterNode, startCluster } from './cluster.ts';
import { CLUSTER_FAULTS, type ClusterFaultName, type FaultScene, playFault } from './faults.ts';

export type ClusterRoundOptions = {
  readonly seed: number;
  readonly nodes: number;
  /** How long the load lasts at least; a fault that has begun is played to its end. */
  readonly seconds: number;
  /** How long what is stalled or apart stays so, in seconds. */
  readonly stallSeconds: number;
  /** Played first, in this order; then whatever the seed draws. */
  readonly faults?: readonly ClusterFaultName[];
};

/** Nodes that died are held for dead after some seconds, and their slots lapse by themselves. */
const REST_WITHIN_MS = 40_000;
const READY_WITHIN_MS = 15_000;

export async function playClusterRound(options: ClusterRoundOptions): Promise<RoundResult> {
  const random = createRandom(options.seed);
  let cluster: Cluster | undefined;
  await using upstream = await startTortureUpstream((trigger) => {
    for (const { killer } of cluster?.nodes ?? []) killer.happened(trigger);
  });
  cluster = await startCluster(sceneCatalog(upstream.upstream), options.nodes);
  try {
    const { nodes, commands, database, nodeOf, target } = cluster;
    const [first] = nodes;
    if (first === undefined) throw new Error('a cluster has nodes');
    const accounts = await createAccounts(first.killer);
    const lag = watchLag();
    let over = false;
    const targets = random.fork('targets');
    const stage: Stage = {
      ...{ random, upstream, accounts, commands },
      clients: [],
      target: () => target(targets),
      happened: (trigger, asked) => nodeOf(asked)?.killer.happened(trigger),
      over: () => over,
    };
    const parties = [playClients(stage), playCredits(stage), playSamples(stage)] as const;
    const exits: number[] = [];
    const played = await playFaults(options, {
      ...{ cluster, exits, random: random.fork('faults') },
      stallMs: options.stallSeconds * 1_000,
    });
    over = true;
    const [, credits, samples] = await Promise.all(parties);
    const quiescentAfterMs = await rest(database, upstream, REST_WITHIN_MS);
    const ready = await askWhetherReady(nodes);
    const rich = funded(accounts, await readLedger(database));
    const bursts = await burst(
      rich,
      upstream,
      (account, drawn) => askAs(stage, account, drawn, 2 * REST_WITHIN_MS),
      REST_WITHIN_MS,
    );
    const verdicts = [...ready, ...(await askForVerdicts(commands))];
    exits.push(...(await Promise.all(nodes.map(({ killer }) => killer.gateway().stop()))));
    const books: Books = {
      ...{ accounts, credits, samples, bursts, verdicts, quiescentAfterMs },
      clients: stage.clients,
      upstream: upstream.book,
      kills: nodes.flatMap(({ killer }) => killer.kills),
      troubles: played.flatMap(({ troubles }) => troubles),
      played: played.map(({ name }) => name),
      nodes: nodes.length,
      exitCode: exits.find((code) => code !== 0) ?? 0,
      lagMs: lag.stop(),
      ledger: await readLedger(database),
    };
    return { books, directory: commands.directory, discard: cluster.discard };
  } finally {
    await cluster.stop();
  }
}

async function playFaults(
  { faults = [], seconds }: ClusterRoundOptions,
  scene: FaultScene,
): Promise<Awaited<ReturnType<typeof playFault>>[]> {
  const { random } = scene;
  const untilMs = Date.now() + seconds * 1_000;
  const played: Awaited<ReturnType<typeof playFault>>[] = [];
  const next = [...faults];
  for (;;) {
    await Bun.sleep(random.whole(200, 1_500));
    const name = next.shift() ?? (Date.now() < untilMs ? random.pick(CLUSTER_FAULTS) : undefined);
    if (name === undefined) return played;
    played.push(await playFault(name, scene));
  }
}

/** When all is mended, every node says so. */
async function askWhetherReady(nodes: readonly ClusterNode[]): Promise<Verdict[]> {
  return Promise.all(
    nodes.map(async ({ killer }, index): Promise<Verdict> => {
      const command = `/readyz of node ${index + 1}`;
      const untilMs = Date.now() + READY_WITHIN_MS;
      for (;;) {
        const answer = await fetch(`${killer.gateway().url}/readyz`);
        const said = await answer.text();
        if (answer.status === 200) return { command, ok: true, said };
        if (Date.now() > untilMs) return { command, ok: false, said };
        await Bun.sleep(100);
      }
    }),
  );
}
