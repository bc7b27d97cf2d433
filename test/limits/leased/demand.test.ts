// Ten times the limit is offered to three nodes, evenly and unevenly: they admit nearly all of the
// limit and never more. While an account is far from its limits, requests make no round trip to
// Redis.

import { expect, test } from 'bun:test';
import type { Plan } from '../../../src/core/plan.ts';
import { describeWithServices } from '../../support/services.ts';
import { PLAN } from '../world.ts';
import { type Admitted, createCluster, useRedis } from './cluster.ts';

const WIDE: Plan = {
  ...PLAN,
  requestsPerMinute: 100_000,
  tokensPerMinute: 10_000_000,
  concurrentRequests: 10_000,
};

const TOKENS = 20;

/** How often each of three nodes is asked, out of ten times. */
const DEMANDS = {
  evenly: [0, 1, 2, 0, 1, 2, 0, 1, 2, 0],
  unevenly: [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
};

const STEP_MS = 500;
const STEPS = 100;

describeWithServices('ten times the limit, on three nodes', ['Redis'], () => {
  const used = useRedis();

  /** So many requests in each step; what they leave open ends in the step after `steps`. */
  async function offer(plan: Plan, nodes: readonly number[], each: number, lasts: number) {
    const cluster = createCluster(used().redis, 3);
    const open: { readonly until: number; readonly admitted: Admitted }[] = [];
    const inFlight: number[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      for (const { admitted } of open.filter(({ until }) => until === step)) {
        cluster.settle(admitted, admitted.tokens);
      }
      const asked = Array.from({ length: each }, (_, index) =>
        // A trickle goes to the last node, too.
        cluster.claim(cluster.node(index === 7 && step % 5 === 0 ? 2 : (nodes[index % 10] ?? 0)), {
          plan,
        }),
      );
      for (const outcome of await Promise.all(asked)) {
        if (typeof outcome !== 'string') open.push({ until: step + lasts, admitted: outcome });
      }
      inFlight.push(cluster.admitted.filter(({ state }) => state === 'open').length);
      cluster.wait(STEP_MS);
      for (const node of cluster.nodes) node.tick();
    }
    const tokens = cluster.admitted.reduce((sum, each) => sum + each.tokens, 0);
    const exchanges = cluster.nodes.reduce((sum, { limits }) => sum + limits.counts().exchanges, 0);
    await cluster.stop();
    return { requests: cluster.admitted.length, tokens, inFlight, exchanges };
  }

  const offered = 20;
  const tenth = (offered * STEPS) / 10;
  const cases = [
    ['requests a minute', { ...WIDE, requestsPerMinute: tenth }, tenth],
    ['tokens a minute', { ...WIDE, tokensPerMinute: tenth * TOKENS }, tenth],
    ['tokens a day', { ...WIDE, dailyTokens: tenth * TOKENS }, tenth],
    ['tokens a month', { ...WIDE, monthlyTokens: tenth * TOKENS }, tenth],
  ] as const;

  for (const demand of ['evenly', 'unevenly'] as const) {
    test.each(cases)(`%s, ${demand}`, async (_, plan, limit) => {
      const { requests } = await offer(plan, DEMANDS[demand], offered, 1);
      expect(requests).toBeLessThanOrEqual(limit);
      expect(requests).toBeGreaterThanOrEqual(limit * 0.98);
    });

    test(`concurrent requests, ${demand}`, async () => {
      const limit = 10;
      const plan = { ...WIDE, concurrentRequests: limit };
      const { inFlight } = await offer(plan, DEMANDS[demand], offered, 5);
      expect(Math.max(...inFlight)).toBeLessThanOrEqual(limit);
      const mean = inFlight.reduce((sum, count) => sum + count, 0) / inFlight.length;
      expect(mean).toBeGreaterThanOrEqual(limit * 0.98);
    });
  }

  test('far from the limits, few requests make a way to Redis', async () => {
    const { requests, exchanges } = await offer(WIDE, DEMANDS.evenly, offered, 1);
    expect(requests).toBe(offered * STEPS);
    // Two a second and node tell what was used, however many requests there are.
    expect(exchanges / requests).toBeLessThan(0.4);
  });
});
