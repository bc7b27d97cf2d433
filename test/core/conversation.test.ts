// Conversation affinity: one placement on every turn, and weights over many conversations.

import { describe, expect, test } from 'bun:test';
import { affinityOf, cacheKeyOf, isConversation } from '../../src/core/conversation.ts';
import type { GenerationRequest, Turn } from '../../src/core/generation.ts';
import type { Catalog, Model } from '../../src/core/model.ts';
import { micro, tokenCount, usdRate } from '../../src/core/money.ts';
import { BUILT_IN_PLANS, type Plan } from '../../src/core/plan.ts';
import { candidates } from '../../src/core/route.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { createCredentials } from '../../src/upstream/credentials.ts';
import { CHAT_PLACEMENT, demoUpstream, TIMEOUTS } from '../support/model.ts';
import { alwaysAt, flatPrice } from '../support/price.ts';
import { requestWith, user } from '../support/request.ts';

const [PLAN] = BUILT_IN_PLANS as readonly [Plan];
const CONVERSATIONS = 4_000;

const answer: Turn = { role: 'assistant', reasoning: '', text: 'A', toolCalls: [] };

const requestOf = (...turns: readonly Turn[]): GenerationRequest =>
  requestWith({ model: 'own', system: 'S', turns, stream: true });

/** The upstreams in the order in which they are asked. */
function orderOf(
  request: GenerationRequest,
  weights: Readonly<Record<string, number>>,
  random: () => number = Math.random,
): string[] {
  const names = Object.keys(weights);
  const model: Model = {
    ...{ slug: 'own', aliases: [], displayName: '', description: '', created: 0 },
    ...{ contextWindow: 1_000, maxOutput: 100, features: new Set(), fallbacks: [] },
    prices: alwaysAt(flatPrice('', 1n)),
    servedBy: Object.entries(weights).map(([upstream, weight]) => {
      return { upstream, model: 'm', weight, ...CHAT_PLACEMENT, timeouts: TIMEOUTS };
    }),
  };
  const catalog: Catalog = {
    ...{
      serviceName: '',
      service: DEFAULT_SERVICE,
      usdPerMillion: usdRate(1n),
      minimumHold: micro(1n),
      models: [model],
      plans: new Map(),
    },
    upstreams: new Map(names.map((name) => [name, demoUpstream(name)])),
    resolve: () => model,
  };
  const affinity = affinityOf('acct_1', request);
  const facts = {
    catalog,
    model,
    request,
    affinity,
    plan: PLAN,
    isDisabled: () => false,
    incidentOf: () => undefined,
  };
  return candidates(
    { ...facts, startedAt: 0, promptTokens: tokenCount(1), outputBound: tokenCount(10) },
    random,
  ).map(({ upstream }) => upstream.id);
}

const many = Array.from({ length: CONVERSATIONS }, (_, at) =>
  requestOf(user(`Question ${at}`), answer, user('More')),
);

describe('a conversation', () => {
  test('is asked for at the same place on every turn', () => {
    const turns = [user('A'), answer, user('B')];
    const first = orderOf(requestOf(...turns), { a: 1, b: 1, c: 1 });
    for (let turn = 0; turn < 20; turn += 1) {
      turns.push(answer, user(`${turn}`));
      expect(orderOf(requestOf(...turns), { a: 1, b: 1, c: 1 })).toEqual(first);
    }
  });

  test('is at each place as often as its weight says', () => {
    const firsts: Record<string, number> = {};
    for (const request of many) {
      const [first = ''] = orderOf(request, { a: 1, b: 2, c: 7 });
      firsts[first] = (firsts[first] ?? 0) + 1;
    }
    // Six standard deviations of the largest share.
    const slack = 6 * Math.sqrt(CONVERSATIONS * 0.25);
    for (const [name, share] of [
      ['a', 0.1],
      ['b', 0.2],
      ['c', 0.7],
    ] as const) {
      expect(Math.abs((firsts[name] ?? 0) - share * CONVERSATIONS)).toBeLessThan(slack);
    }
  });

  test('stays where it is when another place goes', () => {
    for (const request of many.slice(0, 500)) {
      const [first, second] = orderOf(request, { a: 1, b: 2, c: 3 });
      const left = { a: 1, b: 2, c: 3 };
      Reflect.deleteProperty(left, first ?? '');
      expect(orderOf(request, left)[0]).toBe(second ?? '');
    }
  });

  test('keeps to one credential, and comes back to it after its rest', () => {
    const credentials = createCredentials();
    const [one, ...others] = ['1', '2', '3'].map((id) => ({ id, apiKey: `key ${id}` }));
    if (one === undefined) throw new Error('no key');
    const upstream = { ...demoUpstream('a'), credentials: [one, ...others] as const };
    const USER = { account: 'acct_1', model: 'm' };
    const used = new Set<string>();
    for (const request of many.slice(0, 60)) {
      const affinity = affinityOf('acct_1', request);
      const pick = (nowMs: number) => {
        // Other tasks run in between.
        credentials.pick(upstream, USER, nowMs);
        const lease = credentials.pick(upstream, USER, nowMs, undefined, affinity);
        if (lease === undefined) throw new Error('none is left');
        return lease;
      };
      const lease = pick(0);
      const { id } = lease.credential;
      used.add(id);
      expect([pick(0).credential.id, pick(0).credential.id]).toEqual([id, id]);
      credentials.refused(lease, 401, 0);
      const instead = pick(1).credential.id;
      expect(instead).not.toBe(id);
      expect(pick(2).credential.id).toBe(instead);
      credentials.forget();
      expect(pick(60_000).credential.id).toBe(id);
    }
    expect(used.size).toBe(3);
  });
});

test('requests without a conversation are drawn, however alike they are', () => {
  const request = requestOf(user('Hello?'));
  expect(isConversation(request)).toBe(false);
  expect(orderOf(request, { a: 1, b: 1 }, () => 0)).toEqual(['a', 'b']);
  expect(orderOf(request, { a: 1, b: 1 }, () => 0.9)).toEqual(['b', 'a']);
});

describe('a cache key of the client', () => {
  const keyed = (promptCacheKey: string, text: string): GenerationRequest => ({
    ...requestOf(user(text)),
    promptCacheKey,
  });
  const keyOf = (account: string, request: GenerationRequest): string =>
    cacheKeyOf(affinityOf(account, request) ?? (() => Number.NaN));

  test('keeps requests together, however different they are', () => {
    expect(keyOf('acct_1', keyed('k', 'A'))).toBe(keyOf('acct_1', keyed('k', 'B')));
    expect(keyOf('acct_1', keyed('k', 'A'))).not.toBe(keyOf('acct_1', keyed('l', 'A')));
  });

  test('is never the key of another account, or what upstreams are sent', () => {
    expect(keyOf('acct_1', keyed('k', 'A'))).not.toBe(keyOf('acct_2', keyed('k', 'A')));
    expect(keyOf('acct_1', keyed('k', 'A'))).toMatch(/^[0-9a-z]{5,}$/);
  });
});
