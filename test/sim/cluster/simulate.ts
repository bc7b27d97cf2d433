// One simulated cluster: nodes that lease permits from one Redis, with a demand and faults. Returns
// what was admitted, what it cost, and what one process would have admitted.

import { createLeasedLimits, type LeasedLimits } from '../../../src/limits/leased/leased.ts';
import type { ScriptCall } from '../../../src/limits/leased/script.ts';
import { inWorld, type World } from '../world.ts';
import { type Admission, chargedTokens, leastLimit, weightOf } from './book.ts';
import { type Arrival, arrivals, type Bound, type Demand, limitOf, planOf } from './demand.ts';
import { createHistory } from './history.ts';
import { createNetwork, type Lateness } from './network.ts';
import { play, WAITED_MS } from './play.ts';
import { processLimits } from './process.ts';
import {
  createSimulatedRedis,
  type Serve,
  type SimulatedRedis,
  type Subscribers,
} from './redis.ts';
import { createServer, type Server } from './server.ts';

export type Scenario = Demand &
  Lateness & {
    readonly seed: number;
    readonly nodes: number;
    /** About how many requests a minute the limit allows. */
    readonly size: number;
    readonly minutes: number;
    /** Redis answers no node for so long, in the middle. */
    readonly redisAwayMs?: number;
    /** Redis is started again in the middle, and knows nothing. */
    readonly redisForgets?: boolean;
    /** So many nodes die in the middle, with all that they hold. */
    readonly deaths?: number;
  };

export type Report = {
  readonly offered: number;
  readonly admitted: number;
  readonly limit: number;
  /** By how much the smallest limit that would have admitted this is above the plan's. */
  readonly overAdmitted: number;
  /** Admitted, over what one process admits of the same demand; in the limit's own unit. */
  readonly share: number;
  /** Requests that a node decided by its share, because Redis did not answer in time. */
  readonly shared: number;
  /** Permits that lie at nodes unused, on average over time, over the limit. */
  readonly stranded: number;
  /** Of those that were admitted, how many waited for Redis. */
  readonly waited: number;
  /** Commands to Redis, over all requests. */
  readonly commands: number;
  readonly commandsPerSecond: number;
  /** What limits add to a request at the 99th percentile, in milliseconds. */
  readonly p99Ms: number;
};

type Node = {
  readonly limits: LeasedLimits;
  readonly redis: SimulatedRedis;
};

const SAMPLE_MS = 100;

/** Everything that runs ends, and everything that was given lapses. */
const AFTER_MS = 90_000;

export function simulateCluster(scenario: Scenario): Promise<Report> {
  // No promise of a simulated cluster is a native one.
  return inWorld(scenario.seed, (world) => playCluster(world, scenario), 1);
}

async function playCluster(world: World, scenario: Scenario): Promise<Report> {
  const { bound, size, minutes } = scenario;
  const plan = planOf(bound, size);
  const forMs = minutes * 60_000;
  const demand = arrivals(world, scenario, { nodes: scenario.nodes, size, forMs });
  const network = createNetwork(world, scenario);
  const server = createServer(world.wall);
  const subscribers: Subscribers = new Set();
  const history = createHistory(world, () => cluster.played());
  const nodes = new Map<number, Node>();
  for (let node = 0; node < scenario.nodes; node += 1) nodes.set(node, openNode(node));

  const opened = [...nodes.values()];

  function openNode(node: number): Node {
    const serve: Serve = (_script, keys, [call = '']) =>
      JSON.stringify(server.decide(keys, JSON.parse(call) as ScriptCall));
    const redis = createSimulatedRedis(world, network.connect(), serve, subscribers);
    const limits = createLeasedLimits({
      ...{ redis, local: processLimits(world), holder: `node_${node}`, history },
      ...{ clock: world.wall, monotonic: world.monotonic, sleep: world.sleep },
      every: (ms, work) => every(world, ms, work),
      liveNodes: () => nodes.size,
      isLive: () => true,
    });
    return { limits, redis };
  }

  /** The load balancer sends nothing to the dead. */
  function nodeOf({ node }: Arrival): LeasedLimits {
    const living = nodes.get(node) ?? [...nodes.values()][node % nodes.size];
    if (living === undefined) throw new Error('All nodes are dead.');
    return living.limits;
  }

  const cluster = play(world, demand, plan, nodeOf);
  const one = processLimits(world);
  const alone = play(world, demand, plan, () => one);

  const endsMs = world.monotonic() + forMs;
  const { redisAwayMs = 0, redisForgets = false, deaths = 0 } = scenario;
  if (redisForgets) world.after(forMs / 2, server.forget);
  if (redisAwayMs > 0) {
    world.after(forMs / 2, () => network.setAway(true));
    world.after(forMs / 2 + redisAwayMs, () => network.setAway(false));
  }
  for (let node = 0; node < deaths; node += 1) {
    world.after(forMs / 2, () => {
      const dying = nodes.get(node);
      nodes.delete(node);
      if (dying === undefined) return;
      cluster.kill(dying.limits);
      dying.redis.kill();
    });
  }

  const unused: number[] = [];
  const sample = (): void => {
    if (world.monotonic() >= endsMs) return;
    unused.push(unusedNow(server, cluster.played().admissions, scenario, world));
    world.after(SAMPLE_MS, sample);
  };
  world.after(SAMPLE_MS, sample);

  await world.run(world.monotonic() + forMs, () => undefined);
  const { operations } = network.traffic();
  await world.run(world.monotonic() + AFTER_MS, () => undefined);

  const { admissions, decidedMs } = cluster.played();
  const limit = limitOf(plan, bound);
  const sorted = decidedMs.toSorted((left, right) => left - right);
  // Of slots, what counts is for how long they are used.
  const weight = bound === 'slots' ? ({ lastsMs }: Arrival) => lastsMs : weightOf(bound);
  const weigh = (all: readonly Admission[]): number =>
    all.reduce((sum, { arrival }) => sum + weight(arrival), 0);
  return {
    offered: demand.length,
    admitted: admissions.length,
    limit,
    overAdmitted: Math.max(0, leastLimit(bound, admissions) - limit),
    share: weigh(admissions) / weigh(alone.played().admissions),
    shared: opened.reduce((sum, { limits }) => sum + limits.counts().shared, 0),
    stranded: mean(unused) / limit,
    waited: admissions.filter(({ waitedMs }) => waitedMs > WAITED_MS).length / admissions.length,
    commands: operations / decidedMs.length,
    commandsPerSecond: operations / (forMs / 1_000),
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}

/** Permits that Redis has given and no node has used, at this instant. */
function unusedNow(
  server: Server,
  admissions: readonly Admission[],
  { bound }: Scenario,
  world: World,
): number {
  const { amount, sinceMs } = server.given(bound);
  const fromMs = sinceMs - (world.wall() - world.monotonic());
  let used = 0;
  // The newest come last.
  for (let index = admissions.length - 1; index >= 0; index -= 1) {
    const admission = admissions[index];
    if (admission === undefined || admission.atMs < fromMs) break;
    used += usedOf(bound, admission);
  }
  return Math.max(0, amount - used);
}

/** What a request takes at this instant. */
function usedOf(bound: Bound, { arrival, endedMs, settled }: Admission): number {
  switch (bound) {
    case 'requests':
      return 1;
    case 'tokens':
      return chargedTokens(arrival);
    case 'slots':
      return endedMs === undefined ? 1 : 0;
    case 'day':
    case 'month':
      return settled ? arrival.usedTokens : chargedTokens(arrival);
  }
}

/** Returns what ends it. */
function every(world: World, ms: number, work: () => void): () => void {
  let goesOn = true;
  const again = (): void => {
    if (!goesOn) return;
    work();
    world.after(ms, again);
  };
  // Nodes do not start at the same instant.
  world.after(ms * world.random(), again);
  return () => {
    goesOn = false;
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
