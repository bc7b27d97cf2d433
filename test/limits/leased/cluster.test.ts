// Several nodes on one Redis: for any calls in any order, no limit is exceeded, allowed requests
// are admitted, and no permit is left behind.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { IncidentLimits, Plan } from '../../../src/core/plan.ts';
import { describeWithServices } from '../../support/services.ts';
import { PLAN } from '../world.ts';
import {
  type Admitted,
  admittingNothingAlone,
  type Cluster,
  createCluster,
  type Fate,
  useRedis,
} from './cluster.ts';

const NODES = 3;

const RUNS = 30;

const PLANS: readonly Plan[] = [
  PLAN,
  { ...PLAN, requestsPerMinute: 12, concurrentRequests: 5, tokensPerMinute: 30_000 },
  { ...PLAN, requestsPerMinute: 40, concurrentRequests: 30, dailyTokens: 30_000 },
  { ...PLAN, requestsPerMinute: 90, concurrentRequests: 40, monthlyTokens: 60_000 },
];

const INCIDENTS: readonly (IncidentLimits | undefined)[] = [
  undefined,
  { concurrentRequests: 2, requestsPerMinute: 5 },
  { tokensPerMinute: 9_000 },
];

type Step =
  | {
      readonly kind: 'claim';
      readonly node: number;
      readonly model: number;
      readonly prompt: number;
    }
  | {
      readonly kind: 'end';
      readonly index: number;
      readonly how: 'settle' | 'cancel' | 'lose';
      readonly used: number;
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'tick'; readonly node: number }
  | { readonly kind: 'fate'; readonly node: number; readonly fate: Fate };

const node = fc.nat(NODES - 1);

type Kinds = {
  readonly ends: readonly ('settle' | 'cancel' | 'lose')[];
  readonly waits: fc.Arbitrary<number>;
  readonly fates: readonly Fate[];
};

const stepsOf = ({ ends, waits, fates }: Kinds): fc.Arbitrary<Step[]> => {
  const prompt = fc.integer({ min: 1, max: 2_000 });
  const step = fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({ kind: fc.constant('claim' as const), node, model: fc.nat(1), prompt }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('end' as const),
        index: fc.nat(9),
        how: fc.constantFrom(...ends),
        used: fc.nat(2_000),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: waits }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('tick' as const), node }) },
    {
      weight: fates.length,
      arbitrary: fc.record({
        kind: fc.constant('fate' as const),
        node,
        fate: fc.constantFrom(...fates, 'arrives' as const),
      }),
    },
  );
  return fc.array(step, { minLength: 20, maxLength: 80 });
};

describeWithServices('limits of several nodes', ['Redis'], () => {
  const used = useRedis();

  describe('laws', () => {
    const rules = fc.record({
      plan: fc.constantFrom(...PLANS),
      incident: fc.constantFrom(...INCIDENTS),
    });
    // A window that cancelled claims began may start over; then it is not seen from outside which
    // it was.
    test.each([
      [
        'over many windows',
        {
          ends: ['settle', 'settle', 'lose'],
          waits: fc.oneof(fc.nat(3_000), fc.constantFrom(1, 250, 999, 29_999, 59_999, 60_000)),
          fates: [],
        },
      ],
      [
        'with claims that are cancelled',
        { ends: ['settle', 'cancel', 'lose'], waits: fc.nat(300), fates: [] },
      ],
      [
        'with calls and replies that are lost, late and doubled',
        {
          ends: ['settle', 'cancel', 'lose'],
          waits: fc.nat(300),
          fates: ['is lost', 'has no reply', 'arrives twice', 'late'],
        },
      ],
    ] satisfies [string, Kinds][])(
      'no limit is exceeded, and nothing leaks: %s',
      async (_, kinds) => {
        let admitted = 0;
        await fc.assert(
          fc.asyncProperty(rules, stepsOf(kinds), async (rule, steps) => {
            const cluster = createCluster(used().redis, NODES, { local: admittingNothingAlone });
            admitted += await play(cluster, rule, steps);
          }),
          { numRuns: RUNS },
        );
        expect(admitted).toBeGreaterThan(RUNS * 3);
      },
      60_000,
    );
  });
});

type Rules = { readonly plan: Plan; readonly incident: IncidentLimits | undefined };

async function play(cluster: Cluster, rules: Rules, steps: readonly Step[]): Promise<number> {
  const open = () => cluster.admitted.filter(({ state }) => state === 'open');
  for (const each of steps) {
    if (each.kind === 'claim') {
      const model = `model-${each.model}`;
      // The incident is that of one model.
      const incident = each.model === 0 ? rules.incident : undefined;
      await cluster.claim(cluster.node(each.node), {
        ...{ plan: rules.plan, incident, model, prompt: each.prompt, bound: 100 },
      });
    } else if (each.kind === 'end') await end(cluster, open()[each.index], each);
    else if (each.kind === 'wait') {
      // Nodes that live renew their slots in time.
      let ms = each.ms;
      for (; ms > 9_000; ms -= 9_000) await cluster.idle(9_000);
      cluster.wait(ms);
    } else if (each.kind === 'fate') cluster.node(each.node).state.fate = each.fate;
    else cluster.node(each.node).tick();
    expectWithin(cluster, rules);
  }
  await expectBalance(cluster, rules);
  return cluster.admitted.length;
}

async function end(
  cluster: Cluster,
  each: Admitted | undefined,
  { how, used }: { readonly how: 'settle' | 'cancel' | 'lose'; readonly used: number },
): Promise<void> {
  if (each === undefined) return;
  // More than was estimated may be used, and then the caps are exceeded: not here.
  if (how === 'settle') cluster.settle(each, Math.min(used, each.tokens));
  else if (how === 'cancel') await cluster.cancel(each);
  else cluster.lose(each);
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** What is admitted never exceeds a limit, at this moment and in each window. */
function expectWithin({ admitted }: Cluster, { plan, incident }: Rules): void {
  const counted = admitted.filter(({ state }) => state !== 'cancelled');
  const open = admitted.filter(({ state }) => state === 'open');
  const ofModel = ({ request }: Admitted) => request.model === 'model-0';
  expect(open.length).toBeLessThanOrEqual(plan.concurrentRequests);
  expect(open.filter(ofModel).length).toBeLessThanOrEqual(incident?.concurrentRequests ?? Infinity);
  for (const window of windowsOf(admitted)) {
    expect(window.length).toBeLessThanOrEqual(plan.requestsPerMinute);
    expect(sum(window.map(({ tokens }) => tokens))).toBeLessThanOrEqual(plan.tokensPerMinute);
  }
  for (const window of windowsOf(admitted.filter(ofModel))) {
    expect(window.length).toBeLessThanOrEqual(incident?.requestsPerMinute ?? Infinity);
    const tokens = sum(window.map((each) => each.tokens));
    expect(tokens).toBeLessThanOrEqual(incident?.tokensPerMinute ?? Infinity);
  }
  const used = sum(counted.map((each) => each.used));
  expect(used).toBeLessThanOrEqual(
    Math.min(plan.dailyTokens ?? Infinity, plan.monthlyTokens ?? Infinity),
  );
}

/** Windows as they must have been: each begins with the first request after the last. */
function windowsOf(admitted: readonly Admitted[]): Admitted[][] {
  const windows: { readonly startedAtMs: number; readonly held: Admitted[] }[] = [];
  for (const each of admitted) {
    if (each.state === 'cancelled') continue;
    const last = windows.at(-1);
    if (last !== undefined && each.atMs - last.startedAtMs < 60_000) last.held.push(each);
    else windows.push({ startedAtMs: each.atMs, held: [each] });
  }
  return windows.map(({ held }) => held);
}

/** After everything has ended, every node says of all counters what is true. */
async function expectBalance(cluster: Cluster, { plan }: Rules): Promise<void> {
  for (const each of cluster.nodes) each.state.fate = 'arrives';
  for (const each of cluster.admitted) if (each.state === 'open') cluster.settle(each, 1);
  await cluster.idle(500, 30_000, 500);
  const counted = cluster.admitted.filter(({ state }) => state !== 'cancelled');
  for (const { limits } of cluster.nodes) {
    const used = await limits.usage('acct_1', plan);
    expect(used.inFlight).toBe(0);
    expect(used.dayTokens).toBe(sum(counted.map((each) => each.used)));
    expect(used.monthTokens).toBe(used.dayTokens);
  }
}
