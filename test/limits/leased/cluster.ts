// Several nodes that lease from one Redis, over one history, on clocks that the test moves. Each
// connection to Redis can fail: calls or replies get lost, or calls arrive twice.

import { afterAll, beforeAll } from 'bun:test';
import { tokenCount } from '../../../src/core/money.ts';
import type { IncidentLimits, Plan } from '../../../src/core/plan.ts';
import { readRedisUrl } from '../../../src/core/redis-url.ts';
import type {
  AccountLimits,
  AdmissionHistory,
  Claim,
  ClaimRequest,
  PastAdmission,
} from '../../../src/limits/contract.ts';
import { createLeasedLimits, type LeasedLimits } from '../../../src/limits/leased/leased.ts';
import { createLimits } from '../../../src/limits/limits.ts';
import { createRedis, type Redis } from '../../../src/store/redis/client.ts';
import { type RedisServer, startRedis } from '../../support/services.ts';
import { NOON, PLAN } from '../world.ts';

/** What becomes of a call: `late` arrives after it was given up, and before the next one. */
export type Fate = 'arrives' | 'is lost' | 'has no reply' | 'arrives twice' | 'late';

export type ClusterNode = {
  readonly limits: LeasedLimits;
  readonly state: {
    /** What becomes of its calls from now on. */
    fate: Fate;
    isUp: boolean;
    /** By how much its wall clock is wrong. */
    skewMs: number;
  };
  /** What runs again and again, once. */
  readonly tick: () => void;
};

export type Admitted = {
  readonly node: ClusterNode;
  readonly request: ClaimRequest;
  readonly atMs: number;
  readonly tokens: number;
  readonly claim: Claim;
  used: number;
  state: 'open' | 'ended' | 'cancelled' | 'lost';
  lostAtMs: number;
};

export async function connectRedis(url: string, timeoutMs = 10_000): Promise<Redis> {
  const target = readRedisUrl(url);
  if ('problem' in target) throw new Error(target.problem);
  // However busy this machine is, what is slow here is not what is tested.
  const redis = createRedis({ target: target.value, onChange: () => {}, timeoutMs });
  await redis.waitUntilUp(5_000);
  return redis;
}

/** One Redis for all tests of a group, which has to call this where it begins. */
export function useRedis() {
  let used: { readonly server: RedisServer; readonly redis: Redis } | undefined;

  beforeAll(async () => {
    const server = await startRedis();
    used = { server, redis: await connectRedis(server.url) };
  });

  afterAll(async () => {
    used?.redis.close();
    await used?.server.stop();
  });

  return () => {
    if (used === undefined) throw new Error('Redis is there once the tests run');
    return used;
  };
}

export type ClusterOptions = {
  /** In the place of each node's own limits. */
  readonly local?: (own: AccountLimits) => AccountLimits;
  /** By default no time passes. */
  readonly sleep?: (ms: number) => Promise<unknown>;
};

let clusters = 0;

export function createCluster(redis: Redis, size: number, options: ClusterOptions = {}) {
  const { local = (own) => own, sleep = async () => {} } = options;
  clusters += 1;
  const prefix = `tollgate:cluster-${clusters}:`;
  let elapsedMs = 0;
  let requests = 0;
  const admitted: Admitted[] = [];
  const nodes: ClusterNode[] = [];
  const timeMs = () => NOON + elapsedMs;
  /** What each node does with messages. */
  const receivers: {
    readonly state: ClusterNode['state'];
    readonly receive: (message: string) => void;
  }[] = [];

  /** Every node has the same books, which know of a request from when it was admitted. */
  const history: AdmissionHistory = {
    admittedSince: async (sinceMs) =>
      admitted
        .filter(({ state, request }) => state !== 'cancelled' && request.startedAt >= sinceMs)
        .map(({ request, tokens }): PastAdmission => ({ ...request, tokens }))
        .toSorted((left, right) => right.startedAt - left.startedAt),
    mark: async () => admitted.filter(({ state }) => state === 'ended').length,
    usedBefore: async (accountId, { fromMs, untilMs }, mark) =>
      admitted
        .filter(({ state }) => state === 'ended')
        .slice(0, mark)
        .filter(({ request }) => request.accountId === accountId)
        .filter(({ request: { startedAt } }) => fromMs <= startedAt && startedAt < untilMs)
        .reduce((sum, { used }) => sum + used, 0),
  };

  function addNode(): ClusterNode {
    const name = `node_${nodes.length}`;
    const offsetMs = nodes.length * 1_000_000.5;
    const monotonic = () => offsetMs + elapsedMs;
    const state: ClusterNode['state'] = { fate: 'arrives', isUp: true, skewMs: 0 };
    let tick = () => {};
    const late: (() => Promise<unknown>)[] = [];
    const run: Redis['run'] = async (...call) => {
      for (const each of late.splice(0)) await each();
      const { fate } = state;
      if (fate === 'late') late.push(() => redis.run(...call));
      if (fate === 'is lost' || fate === 'late') throw new Error('lost');
      const reply = await redis.run(...call);
      if (fate === 'arrives twice') await redis.run(...call);
      if (fate === 'has no reply') throw new Error('no reply');
      return reply;
    };
    const shared = {
      clock: () => timeMs() + state.skewMs,
      monotonic,
      isLive: (requestId: string) =>
        admitted.some((each) => each.request.requestId === requestId && each.state === 'open'),
      history,
    };
    const limits = createLeasedLimits({
      ...shared,
      redis: {
        run,
        isUp: () => state.isUp && redis.isUp(),
        async publish(_channel, message) {
          if (state.fate === 'is lost' || state.fate === 'late') return;
          for (const each of receivers) if (each.state.isUp) each.receive(message);
        },
        subscribe(_channel, receive) {
          receivers.push({ state, receive });
          return () => {};
        },
      },
      local: local(createLimits(shared)),
      holder: name,
      liveNodes: () => nodes.length,
      sleep,
      every(_ms, work) {
        tick = work;
        return () => {};
      },
      prefix,
      redisClock: () => NOON + Math.floor(elapsedMs),
    });
    const node: ClusterNode = { limits, state, tick: () => tick() };
    nodes.push(node);
    return node;
  }

  for (let index = 0; index < size; index += 1) addNode();

  return {
    nodes,
    admitted,
    prefix,
    timeMs,
    elapsedMs: () => elapsedMs,
    node(index: number): ClusterNode {
      const node = nodes[index % nodes.length];
      if (node === undefined) throw new Error('a cluster has nodes');
      return node;
    },
    wait(ms: number): void {
      elapsedMs += ms;
    },
    /** Resolves to the code of a refusal, or to what was admitted. */
    async claim(
      node: ClusterNode,
      asked: {
        readonly plan: Plan;
        readonly incident?: IncidentLimits | undefined;
        readonly model?: string;
        readonly prompt?: number;
        readonly bound?: number;
        readonly account?: string;
      },
    ): Promise<Admitted | string> {
      requests += 1;
      const request: ClaimRequest = {
        requestId: `req_${requests}`,
        startedAt: timeMs(),
        accountId: asked.account ?? 'acct_1',
        model: asked.model ?? 'swift',
        plan: asked.plan,
        incident: asked.incident,
        promptTokens: tokenCount(asked.prompt ?? 10),
        outputBound: tokenCount(asked.bound ?? 10),
      };
      const result = await node.limits.claim(request);
      if (result.kind === 'refused') return result.code;
      const tokens = request.promptTokens + Math.min(request.outputBound, 4_096);
      const each: Admitted = {
        ...{ node, request, tokens, atMs: elapsedMs, claim: result.claim },
        ...{ used: tokens, state: 'open', lostAtMs: 0 },
      };
      admitted.push(each);
      return each;
    },
    settle(each: Admitted, used: number): void {
      each.used = used;
      each.state = 'ended';
      each.claim.settle(used);
    },
    async cancel(each: Admitted): Promise<void> {
      each.state = 'cancelled';
      each.used = 0;
      await each.claim.cancel();
    },
    lose(each: Admitted): void {
      each.state = 'lost';
      each.lostAtMs = elapsedMs;
    },
    /** Time passes, and nodes do what they do by themselves. */
    async idle(...waits: readonly number[]): Promise<void> {
      for (const ms of waits) {
        elapsedMs += ms;
        for (const node of nodes) node.tick();
        // A question is answered behind the calls in progress.
        await Promise.all(nodes.map(({ limits }) => limits.usage('acct_1', PLAN)));
      }
    },
    stop: () => Promise.all(nodes.map(({ limits }) => limits.stop())),
  };
}

export type Cluster = ReturnType<typeof createCluster>;

/** Where Redis has no answer, nothing is admitted: so all that is admitted was leased. */
export function admittingNothingAlone(limits: AccountLimits): AccountLimits {
  return {
    ...limits,
    claim(request) {
      if (request.plan.requestsPerMinute > 1_000_000) return limits.claim(request);
      const plan = { ...request.plan, concurrentRequests: 0 };
      // A share of a limit is at least one.
      return limits.claim({ ...request, plan, nodes: 1 });
    },
  };
}
