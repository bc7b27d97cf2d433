// Ten times of each limit, offered to three nodes at once, evenly and unevenly: all nodes together
// admit no more than the plan allows, and no less than 98 % of it, because there is demand.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sendWhole } from '../../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../../support/catalog.ts';
import { post, requestBody } from '../../support/client.ts';
import { wholeBody } from '../../support/render.ts';
import { describeWithServices } from '../../support/services.ts';
import { type Exchange, startUpstream, type Upstream } from '../../support/upstream.ts';
import { readLedger } from '../ledger.ts';
import { type Cluster, startCluster } from './cluster.ts';

/** What each request takes of a cap, as its upstream reports it; no more than was estimated. */
const USED = { prompt: 4, cached: 0, completion: 5 };
const USED_TOKENS = USED.prompt + USED.completion;
const MAX_TOKENS = USED.completion;

const LIMITS = {
  requests_per_minute: 50,
  tokens_per_minute: 450,
  concurrent_requests: 10,
  daily_tokens: 450,
  monthly_tokens: 450,
} as const;

type LimitName = keyof typeof LIMITS;

const SPREADS = { evenly: [1, 1, 1], unevenly: [0.85, 0.12, 0.03] } as const;

/** What nobody needs at one node goes to the others within a second, so demand must last longer. */
const WAVES = 5;
const WAVE_MS = 700;

const TEST_MS = 90_000;

describeWithServices('ten times a limit, offered to three nodes', ['PostgreSQL', 'Redis'], () => {
  let cluster: Cluster;
  let upstream: Upstream;
  let gate = Promise.withResolvers<void>();

  beforeAll(async () => {
    const answer = (exchange: Exchange): void => {
      const script = { pieces: [{ text: 'one two' }], finish: 'stop', usage: USED } as const;
      sendWhole(exchange, 200, wholeBody('chat', 'ready', script));
    };
    upstream = await startUpstream({
      ready: answer,
      async waiting(exchange) {
        await gate.promise;
        answer(exchange);
      },
    });
    const plans = Object.fromEntries(
      Object.entries(LIMITS).map(([name, limit]) => [
        planOf(name),
        { ...LARGE_PLAN, [name]: limit },
      ]),
    );
    cluster = await startCluster(catalogFor(upstream, ['ready', 'waiting'], { plans }), 3);
  }, TEST_MS);

  afterAll(async () => {
    gate.resolve();
    await cluster?.stop();
    await cluster?.discard();
    await upstream?.close();
  });

  test.each(Object.keys(SPREADS) as (keyof typeof SPREADS)[])(
    '%s, is admitted up to the limit and no further',
    async (spread) => {
      const names = Object.keys(LIMITS) as LimitName[];
      const results = await Promise.all(names.map((name) => offer(name, SPREADS[spread])));
      for (const { name, taken, mostLeft } of results) {
        const limit = LIMITS[name];
        expect([name, taken]).toEqual([name, Math.min(taken, limit)]);
        expect([name, taken]).toEqual([
          name,
          Math.max(taken, Math.min(limit * 0.98, limit - mostLeft)),
        ]);
      }
    },
    TEST_MS,
  );

  /** What was admitted, in the limit's own unit, and what may be left because no request fits. */
  async function offer(name: LimitName, shares: readonly number[]) {
    const [first] = cluster.nodes;
    const account = await first?.killer.gateway().createAccount({ plan: planOf(name) });
    if (account === undefined) throw new Error('there is no node');
    const model = name === 'concurrent_requests' ? 'waiting' : 'ready';
    const costs = Math.ceil(name.includes('tokens') ? LIMITS[name] / USED_TOKENS : LIMITS[name]);
    const body = requestBody('chat', model, { max_tokens: MAX_TOKENS });
    const asked: Promise<number>[] = [];
    for (let wave = 0; wave < WAVES; wave += 1) {
      for (const [index, node] of cluster.nodes.entries()) {
        const sum = shares.reduce((total, share) => total + share, 0);
        const count = Math.ceil(((costs * 10) / WAVES) * ((shares[index] ?? 0) / sum));
        const { url } = node.killer.gateway();
        for (let request = 0; request < count; request += 1) {
          asked.push(askOnce({ url, key: account.key }, body));
        }
      }
      await Bun.sleep(WAVE_MS);
    }
    // Until now nobody whom that limit let in has given the slot back.
    if (name === 'concurrent_requests') {
      gate.resolve();
      gate = Promise.withResolvers<void>();
    }
    const admitted = (await Promise.all(asked)).filter((status) => status === 200).length;
    switch (name) {
      case 'concurrent_requests':
      case 'requests_per_minute':
        return { name, taken: admitted, mostLeft: 0 };
      default: {
        const estimate = await estimateOf(account.id);
        const each = name === 'tokens_per_minute' ? estimate : USED_TOKENS;
        return { name, taken: admitted * each, mostLeft: estimate };
      }
    }
  }

  async function askOnce(caller: { url: string; key: string }, body: unknown): Promise<number> {
    const response = await post(caller, '/v1/chat/completions', body);
    const text = await response.text();
    if (response.status !== 200) expect([response.status, text]).toEqual([429, text]);
    return response.status;
  }

  /** What each request was charged when it began. */
  async function estimateOf(accountId: string): Promise<number> {
    const { holds } = await readLedger(cluster.database);
    const own = holds.find((hold) => hold.accountId === accountId);
    return (own?.promptTokens ?? 0) + MAX_TOKENS;
  }
});

function planOf(name: string): string {
  return name.replaceAll('_', '-');
}
