// Ten times of each limit, offered to three nodes at once, evenly and unevenly: all nodes together
// admit no more than the plan allows, and no less than 98 % of it, because there is demand. A machine
// that is too busy for Redis to answer in time makes each node serve its share; then twice as much.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sendWhole } from '../../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../../support/catalog.ts';
import { post, requestBody } from '../../support/client.ts';
import type { TestAccount } from '../../support/gateway.ts';
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
  requests_per_minute: 30,
  tokens_per_minute: 270,
  concurrent_requests: 10,
  daily_tokens: 270,
  monthly_tokens: 270,
} as const;

type LimitName = keyof typeof LIMITS;

const SPREADS = { evenly: [1, 1, 1], unevenly: [0.85, 0.12, 0.03] } as const;

/** What nobody needs at one node goes to the others within a second, so demand must last longer. */
const DEMAND_MS = 3_500;

const ATTEMPTS = 10;

const TEST_MS = 90_000;

describeWithServices('ten times a limit, offered to three nodes', ['PostgreSQL', 'Redis'], () => {
  let cluster: Cluster;
  let upstream: Upstream;
  const accounts = new Map<string, TestAccount>();
  /** Until it opens, nobody whom the limit of concurrency let in gives the slot back. */
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
    for (const spread of Object.keys(SPREADS)) {
      for (const name of Object.keys(LIMITS)) {
        const account = await cluster.nodes[0]?.killer
          .gateway()
          .createAccount({ plan: planOf(name) });
        if (account !== undefined) accounts.set(`${name} ${spread}`, account);
      }
    }
  }, TEST_MS);

  afterAll(async () => {
    gate.resolve();
    await cluster?.stop();
    await cluster?.discard();
    await upstream?.close();
  }, TEST_MS);

  test.each(Object.keys(SPREADS) as (keyof typeof SPREADS)[])(
    '%s, is admitted up to the limit and no further',
    async (spread) => {
      const names = Object.keys(LIMITS) as LimitName[];
      const sharedBefore = await countShared();
      gate = Promise.withResolvers<void>();
      const results = await Promise.all(names.map((name) => offer(name, spread)));
      const isShared = (await countShared()) > sharedBefore;
      for (const { name, taken, mostLeft } of results) {
        const limit = LIMITS[name];
        const most = isShared ? 2 * limit : limit;
        const least = isShared ? 0 : Math.min(limit * 0.98, limit - mostLeft);
        expect([name, taken]).toEqual([name, Math.min(taken, most)]);
        expect([name, taken]).toEqual([name, Math.max(taken, least)]);
      }
    },
    TEST_MS,
  );

  /** How many requests were decided without Redis. */
  async function countShared(): Promise<number> {
    const texts = await Promise.all(
      cluster.nodes.map(async ({ killer }) =>
        (await fetch(`${killer.gateway().url}/metrics`)).text(),
      ),
    );
    const counts = texts.map(
      (text) => /^\S+_decisions_total\{by="share"\} (\d+)$/m.exec(text)?.[1],
    );
    expect(counts).not.toContain(undefined);
    return counts.reduce((sum, count) => sum + Number(count), 0);
  }

  /** What was admitted, in the limit's own unit, and what may be left because no request fits. */
  async function offer(name: LimitName, spread: keyof typeof SPREADS) {
    const account = accounts.get(`${name} ${spread}`);
    if (account === undefined) throw new Error('there is no account');
    const shares: readonly number[] = SPREADS[spread];
    const model = name === 'concurrent_requests' ? 'waiting' : 'ready';
    const costs = Math.ceil(name.includes('tokens') ? LIMITS[name] / USED_TOKENS : LIMITS[name]);
    const body = requestBody('chat', model, { max_tokens: MAX_TOKENS });
    const sum = shares.reduce((total, share) => total + share, 0);
    const asked = await Promise.all(
      cluster.nodes.map(async ({ killer }, index) => {
        const { url } = killer.gateway();
        const count = Math.ceil(costs * 10 * ((shares[index] ?? 0) / sum));
        const answers: Promise<number>[] = [];
        for (let request = 0; request < count; request += 1) {
          answers.push(askOnce({ url, key: account.key }, body));
          await Bun.sleep(DEMAND_MS / count);
        }
        return answers;
      }),
    );
    if (name === 'concurrent_requests') gate.resolve();
    const admitted = (await Promise.all(asked.flat())).filter((status) => status === 200).length;
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

  /** Asks again where a machine that is too busy has let PostgreSQL wait for too long. */
  async function askOnce(caller: { url: string; key: string }, body: unknown): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await post(caller, '/v1/chat/completions', body);
      const text = await response.text();
      if (response.status !== 503 || attempt === ATTEMPTS) {
        if (response.status !== 200) expect([response.status, text]).toEqual([429, text]);
        return response.status;
      }
      await Bun.sleep(attempt * 100);
    }
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
