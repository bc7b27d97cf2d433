// Candidates and their order: each upstream once, by weight, the requested model before its
// fallbacks, and no fallback that the plan excludes.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationRequest, Tool, Turn, UserTurn } from '../../src/core/generation.ts';
import type { Catalog, Model, ModelFeature, Placement, Upstream } from '../../src/core/model.ts';
import { micro, pico, tokenCount, usdRate } from '../../src/core/money.ts';
import { BUILT_IN_PLANS, type Plan } from '../../src/core/plan.ts';
import { SINCE_EVER } from '../../src/core/price-book.ts';
import { candidates, type RouteFacts } from '../../src/core/route.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { CHAT_PLACEMENT, demoUpstream, TIMEOUTS } from '../support/model.ts';
import { alwaysAt, flatPrice } from '../support/price.ts';
import { requestWith } from '../support/request.ts';

const [PLAN] = BUILT_IN_PLANS as readonly [Plan];

const REQUEST = requestWith({ model: 'own', turns: [], stream: true });

const FACTS = {
  plan: PLAN,
  request: REQUEST,
  startedAt: 0,
  promptTokens: tokenCount(10),
  outputBound: tokenCount(100),
  isDisabled: () => false,
  incidentOf: () => undefined,
};

const PRICED = flatPrice('cost', 5n);
const PRICE = { input: pico(1n), cachedInput: pico(1n), cacheWrite: pico(1n), output: pico(1n) };

function model(slug: string, servedBy: readonly Placement[], fallbacks: string[] = []): Model {
  return {
    slug,
    aliases: [],
    displayName: slug,
    description: '',
    created: 0,
    contextWindow: 1_000,
    maxOutput: 100,
    features: new Set(),
    prices: alwaysAt({ ...PRICE, version: slug }),
    servedBy,
    fallbacks,
  };
}

function catalog(models: readonly Model[], upstreamIds: readonly string[]): Catalog {
  const upstreams = upstreamIds.map((id): [string, Upstream] => [id, demoUpstream(id)]);
  return {
    serviceName: 'test',
    service: DEFAULT_SERVICE,
    usdPerMillion: usdRate(1n),
    minimumHold: micro(1n),
    models,
    plans: new Map(),
    upstreams: new Map(upstreams),
    resolve: (name) => models.find((each) => each.slug === name),
  };
}

const at = (upstream: string, weight = 1): Placement => ({
  upstream,
  model: `${upstream}-x`,
  weight,
  ...CHAT_PLACEMENT,
  timeouts: TIMEOUTS,
});

function order(models: readonly Model[], plan: Plan, random: () => number): string[] {
  const [first] = models;
  if (first === undefined) throw new Error('no model');
  const ids = ['a', 'b', 'c', 'd'];
  const facts = { ...FACTS, catalog: catalog(models, ids), model: first, plan };
  return candidates(facts, random).map(
    (each) =>
      `${each.model.slug}@${each.upstream.id}${each.fallback === 'none' ? '' : ' fallback'}`,
  );
}

test('own placements come first, then the fallbacks in their order', () => {
  const models = [
    model('own', [at('a')], ['second', 'gone', 'third']),
    model('third', [at('c')]),
    model('second', [at('b')]),
  ];
  expect(order(models, PLAN, () => 0)).toEqual(['own@a', 'second@b fallback', 'third@c fallback']);
});

test('a fallback outside the plan, and an upstream that is missing, serve no request', () => {
  const models = [model('own', [at('a'), at('missing')], ['other']), model('other', [at('b')])];
  expect(order(models, { ...PLAN, models: ['own'] }, () => 0.99)).toEqual(['own@a']);
});

test('an upstream out of service serves no request: an upstream for all models, or for one of them', () => {
  const own = model('own', [at('a'), at('b')], ['other']);
  const models = [own, model('other', [at('a'), at('c')])];
  const left = (isDisabled: (upstream: string, slug: string) => boolean): string[] =>
    candidates(
      { ...FACTS, isDisabled, catalog: catalog(models, ['a', 'b', 'c']), model: own },
      () => 0,
    ).map((each) => `${each.model.slug}@${each.upstream.id}`);
  expect(left((upstream) => upstream === 'a')).toEqual(['own@b', 'other@c']);
  expect(left((upstream, slug) => upstream === 'a' && slug === 'own')).toEqual([
    'own@b',
    'other@a',
    'other@c',
  ]);
  expect(left(() => true)).toEqual([]);
});

test('each candidate has the price that its model has when the request starts', () => {
  const price = (version: string) => ({ ...PRICE, version });
  const dated = (slug: string, fallbacks: string[], changesAt: number): Model => ({
    ...model(slug, [at('a')], fallbacks),
    prices: [
      { validFromMs: SINCE_EVER, price: price(`${slug} before`), windows: [] },
      { validFromMs: changesAt, price: price(`${slug} after`), windows: [] },
    ],
  });
  const own = dated('own', ['other'], 100);
  const models = catalog([own, dated('other', [], 200)], ['a']);
  const versions = (startedAt: number): string[] =>
    candidates({ ...FACTS, catalog: models, model: own, startedAt }, () => 0).map(
      (each) => each.price.version,
    );
  expect(versions(99)).toEqual(['own before', 'other before']);
  expect(versions(100)).toEqual(['own after', 'other before']);
  expect(versions(200)).toEqual(['own after', 'other after']);
});

test('a placement that has a cost brings it along, and one without brings none', () => {
  const own = model('own', [{ ...at('a'), cost: PRICED }, at('b')]);
  const facts = { ...FACTS, catalog: catalog([own], ['a', 'b']), model: own, plan: PLAN };
  expect(candidates(facts, () => 0).map(({ cost = 'none' }) => cost)).toEqual([PRICED, 'none']);
});

test('fallbacks of fallbacks are not followed, so a cycle ends', () => {
  const models = [model('own', [at('a')], ['other']), model('other', [at('b')], ['own'])];
  expect(order(models, PLAN, () => 0)).toEqual(['own@a', 'other@b fallback']);
});

test('every placement is drawn exactly once, for all weights and draws', () => {
  const weights = fc.array(fc.double({ min: 0.001, max: 1_000_000, noNaN: true }), {
    minLength: 1,
    maxLength: 4,
  });
  const dice = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
  fc.assert(
    fc.property(weights, dice, (each, rolls) => {
      const placements = each.map((weight, index) => at('abcd'[index] ?? 'a', weight));
      const drawn = order([model('own', placements)], PLAN, () => rolls.next().value);
      expect(drawn.toSorted()).toEqual(placements.map((one) => `own@${one.upstream}`));
    }),
  );
});

test('the first is drawn as often as its weight says', () => {
  const placements = [at('a', 1), at('b', 2), at('c', 7)];
  const rolls = 10_000;
  const firsts: Record<string, number> = {};
  for (let roll = 0; roll < rolls; roll += 1) {
    // Evenly spread dice instead of random ones: the shares are then exact.
    let turn = 0;
    const random = (): number => (turn++ === 0 ? (roll + 0.5) / rolls : 0.5);
    const [first = ''] = order([model('own', placements)], PLAN, random);
    firsts[first] = (firsts[first] ?? 0) + 1;
  }
  expect(firsts).toEqual({ 'own@a': 1_000, 'own@b': 2_000, 'own@c': 7_000 });
});

describe('a fallback takes part', () => {
  type Change = {
    readonly fallback?: Partial<Model>;
    readonly request?: Partial<GenerationRequest>;
    readonly facts?: Partial<RouteFacts>;
    /** Of the requested model. */
    readonly own?: readonly ModelFeature[];
  };

  /** The bound that the fallback gets, or undefined where it does not take part. */
  function boundOf({ fallback, request, facts, own: features }: Change): number | undefined {
    const own = { ...model('own', [at('a')], ['other']), features: new Set(features) };
    const other = { ...model('other', [at('b')]), ...fallback };
    const [first, second] = candidates(
      {
        ...FACTS,
        catalog: catalog([own, other], ['a', 'b']),
        model: own,
        request: { ...REQUEST, ...request },
        ...facts,
      },
      () => 0,
    );
    expect(first?.maxOutputTokens).toBe(facts?.outputBound ?? FACTS.outputBound);
    return second?.maxOutputTokens;
  }

  const tool: Tool = { name: 'a', parameters: {} };
  const image: UserTurn = { role: 'user', parts: [{ kind: 'image', url: 'data:,' }] };
  const result: Turn = { role: 'tool', toolCallId: '1', text: '', isError: false };

  test.each<[string, Partial<GenerationRequest>, ModelFeature[]]>([
    ['plain words', {}, []],
    ['tools', { tools: [tool] }, ['tools']],
    ['the result of a tool', { turns: [result] }, ['tools']],
    ['an image', { turns: [image] }, ['vision']],
    ['JSON', { json: true }, ['json']],
    ['effort alone, which models without reasoning ignore', { reasoning: 'high' }, []],
    ['effort and tools', { reasoning: 'on', tools: [tool] }, ['tools', 'reasoning']],
    ['no effort, and tools', { reasoning: 'off', tools: [tool] }, ['tools']],
  ])('for %s, if it can do that', (_, request, needed) => {
    const bound = (features: readonly ModelFeature[]) =>
      boundOf({ request, fallback: { features: new Set(features) }, own: ['reasoning'] });
    expect(bound(needed)).toBe(100);
    for (const missing of needed) {
      expect([missing, bound(needed.filter((each) => each !== missing))]).toEqual([
        missing,
        undefined,
      ]);
    }
  });

  test('without thinking, where the requested model ignores effort too', () => {
    const request = { reasoning: 'high', tools: [tool] } as const;
    expect(boundOf({ request, fallback: { features: new Set(['tools']) }, own: ['tools'] })).toBe(
      100,
    );
  });

  const ASKED = { tokens: 100, field: 'max_tokens' } as const;
  test.each<[string, Change, number | undefined]>([
    ['with its own bound, where that is lower', { fallback: { maxOutput: 7 } }, 7],
    ['never with a higher one', { fallback: { maxOutput: 500 } }, 100],
    ['if the prompt fits its window', { fallback: { contextWindow: 10 } }, undefined],
    ['with what its window leaves', { fallback: { contextWindow: 11 } }, 1],
    [
      'if the bound that the caller asked for fits',
      { fallback: { contextWindow: 109 }, request: { maxOutputTokens: ASKED } },
      undefined,
    ],
    [
      'also where it just fits',
      { fallback: { contextWindow: 110 }, request: { maxOutputTokens: ASKED } },
      100,
    ],
    [
      'where its own lower bound fits',
      { fallback: { contextWindow: 50, maxOutput: 40 }, request: { maxOutputTokens: ASKED } },
      40,
    ],
    [
      'while the catalog does not lower its limits',
      { fallback: { incidentLimits: { requestsPerMinute: 1 } } },
      undefined,
    ],
    [
      'while the operator does not lower its limits',
      {
        facts: { incidentOf: (slug) => (slug === 'other' ? { requestsPerMinute: 1 } : undefined) },
      },
      undefined,
    ],
    [
      'while the limits of another model are lower',
      { facts: { incidentOf: (slug) => (slug === 'own' ? { requestsPerMinute: 1 } : undefined) } },
      100,
    ],
    ["within the plan's context", { facts: { plan: { ...PLAN, maxContext: 30 } } }, 20],
  ])('%s', (_, change, bound) => {
    expect(boundOf(change)).toBe(bound);
  });
});
