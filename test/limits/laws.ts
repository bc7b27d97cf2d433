// Laws of the limits: for any calls in any order they answer as the model does, and a few
// properties that need no model. The contract runs them for every implementation.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { IncidentLimits, Plan } from '../../src/core/plan.ts';
import { createModel, type ModelClaim } from './model.ts';
import {
  createWorld,
  MONTH_END,
  type OpenLimits,
  PLAN,
  type Running,
  type World,
} from './world.ts';

const HOUR = 3_600_000;

const DAY = 24 * HOUR;

const MINUTE = 60_000;

const PLANS: readonly Plan[] = [
  PLAN,
  { ...PLAN, requestsPerMinute: 6, concurrentRequests: 4, tokensPerMinute: 30_000 },
  { ...PLAN, dailyTokens: 9_000, monthlyTokens: 12_000 },
  { ...PLAN, requestsPerMinute: 99, concurrentRequests: 9, dailyTokens: 4_000 },
  { ...PLAN, requestsPerMinute: 1, concurrentRequests: 1, monthlyTokens: 5_000 },
];

const INCIDENTS: readonly (IncidentLimits | undefined)[] = [
  undefined,
  { concurrentRequests: 1 },
  { requestsPerMinute: 2 },
  { tokensPerMinute: 5_000, requestsPerMinute: 50 },
  { requestsPerMinute: 1, tokensPerMinute: 2_000, concurrentRequests: 3 },
];

type Step =
  | {
      readonly kind: 'claim';
      readonly account: number;
      readonly model: number;
      readonly prompt: number;
      readonly bound: number;
      readonly lagMs: number;
    }
  | {
      readonly kind: 'end';
      readonly index: number;
      readonly how: 'settle' | 'cancel' | 'refuse' | 'lose' | 'leave';
      readonly used: number;
    }
  | { readonly kind: 'count' | 'refused'; readonly account: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'set wall'; readonly aheadMs: number }
  | { readonly kind: 'plan'; readonly account: number; readonly plan: number }
  | { readonly kind: 'incident'; readonly model: number; readonly limits: number };

const claim = fc.record({
  kind: fc.constant('claim' as const),
  account: fc.nat(1),
  model: fc.nat(1),
  prompt: fc.integer({ min: 1, max: 3_000 }),
  bound: fc.integer({ min: 1, max: 9_000 }),
  lagMs: fc.constantFrom(0, 0, 0, 400, 20_000),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: claim },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      index: fc.nat(9),
      how: fc.constantFrom('settle', 'settle', 'cancel', 'refuse', 'lose', 'leave'),
      used: fc.nat(6_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('count' as const, 'refused' as const),
      account: fc.nat(1),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.oneof(fc.nat(40_000), fc.constantFrom(1, 999, 29_999, 30_000, 59_999, MINUTE)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('set wall' as const),
      aheadMs: fc.constantFrom(-DAY, -HOUR, -10_000, -1_000, 0, 0, 1_000, 10_000, HOUR, DAY),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('plan' as const),
      account: fc.nat(1),
      plan: fc.nat(PLANS.length - 1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('incident' as const),
      model: fc.nat(1),
      limits: fc.nat(INCIDENTS.length - 1),
    }),
  },
);

const ACCOUNTS = ['acct_1', 'acct_2'];

/** Plays steps to the limits and to the model side by side, and compares all that can be seen. */
async function play(open: OpenLimits, steps: Iterable<Step>): Promise<number> {
  const world = await createWorld(open, MONTH_END);
  const model = createModel();
  const plans = [PLAN, PLAN];
  const incidents: (IncidentLimits | undefined)[] = [undefined, undefined];
  const running: { readonly each: Running; readonly modelled: ModelClaim }[] = [];
  let admitted = 0;

  async function playClaim(asked: Extract<Step, { kind: 'claim' }>): Promise<void> {
    const times = { nowMs: world.nowMs(), timeMs: world.timeMs() };
    const { request, result, started } = await world.ask({
      account: ACCOUNTS[asked.account] ?? '',
      model: `model-${asked.model}`,
      plan: plans[asked.account] ?? PLAN,
      incident: incidents[asked.model],
      prompt: asked.prompt,
      bound: asked.bound,
      lagMs: asked.lagMs,
    });
    const allowed = model.decisions(request, times);
    if (result.kind === 'refused') {
      const decided = { code: result.code, wait: result.retryAfterSeconds };
      expect(allowed.map(({ code, wait }) => ({ code, wait }))).toContainEqual(decided);
    } else {
      const bound = result.claim.outputBound;
      expect(allowed).toContainEqual({ code: undefined, wait: 0, bound });
    }
    if (started === undefined) {
      if (result.kind === 'refused') expect(result.view).toEqual(model.view(request, times.nowMs));
      return;
    }
    admitted += 1;
    running.push({ each: started, modelled: model.admit(started.request, times.nowMs) });
    expect(started.claim.view).toEqual(model.view(request, times.nowMs));
  }

  async function playEnd({ index, how, used }: Extract<Step, { kind: 'end' }>): Promise<void> {
    const chosen = running[index % Math.max(1, running.length)];
    if (chosen === undefined) return;
    const { each, modelled } = chosen;
    if (how === 'lose') {
      each.lose();
      model.lose(modelled, world.nowMs());
      return;
    }
    if (how === 'leave') {
      each.claim.freeSlot();
      model.leave(modelled);
      return;
    }
    running.splice(running.indexOf(chosen), 1);
    if (how === 'settle') {
      each.settle(used);
      model.settle(modelled, used);
      return;
    }
    const keeps = how === 'refuse' ? 'request' : undefined;
    model.cancel(modelled, keeps);
    expect(await each.cancel(keeps)).toEqual(model.view(each.request, world.nowMs()));
  }

  for (const each of steps) {
    if (each.kind === 'claim') await playClaim(each);
    else if (each.kind === 'end') await playEnd(each);
    else if (each.kind === 'wait') world.wait(each.ms);
    else if (each.kind === 'set wall') world.setWall(each.aheadMs);
    else if (each.kind === 'plan') plans[each.account] = PLANS[each.plan] ?? PLAN;
    else if (each.kind === 'incident') incidents[each.model] = INCIDENTS[each.limits];
    else if (each.kind === 'refused') {
      const account = ACCOUNTS[each.account] ?? '';
      const plan = plans[each.account] ?? PLAN;
      await world.limits().countRefused(account, plan);
      model.refuse(account, plan, world.nowMs());
      const { freeSlots: _, ...left } = await world.limits().left(account, plan);
      expect(left).toEqual(model.left(account, plan, world.nowMs()));
    } else {
      const account = ACCOUNTS[each.account] ?? '';
      const expected = model.count(account, PLAN, world.nowMs());
      expect(await world.limits().claimCount(account, PLAN)).toBe(expected);
    }
    await compareUsage(world, model);
  }
  return admitted;
}

async function compareUsage(world: World, model: ReturnType<typeof createModel>): Promise<void> {
  for (const account of ACCOUNTS) {
    const { inFlightAtMost, ...expected } = model.usage(account, {
      nowMs: world.nowMs(),
      timeMs: world.timeMs(),
    });
    const used = await world.usage(account);
    expect(used.inFlight).toBeGreaterThanOrEqual(expected.inFlight);
    expect(used.inFlight).toBeLessThanOrEqual(inFlightAtMost);
    expect({ ...used, inFlight: expected.inFlight }).toEqual(expected);
  }
}

/** Every sequence of this length. */
function* sequences(steps: readonly Step[], length: number): Generator<Step[]> {
  if (length === 0) {
    yield [];
    return;
  }
  for (const rest of sequences(steps, length - 1)) for (const each of steps) yield [...rest, each];
}

const CLAIM: Step = { kind: 'claim', account: 0, model: 0, prompt: 900, bound: 99, lagMs: 0 };

const end = (how: 'settle' | 'cancel' | 'lose' | 'leave'): Step => ({
  kind: 'end',
  index: 0,
  how,
  used: 3_000,
});

const EVERYTHING: readonly Step[] = [
  CLAIM,
  end('settle'),
  end('cancel'),
  end('lose'),
  end('leave'),
  { kind: 'wait', ms: 30_000 },
  { kind: 'set wall', aheadMs: -DAY },
  { kind: 'plan', account: 0, plan: 4 },
  { kind: 'incident', model: 0, limits: 1 },
];

/** A claim that was lost ends after its day, which a clock that is set back makes the present one. */
const LATE_END: Step[] = [
  CLAIM,
  end('lose'),
  { kind: 'wait', ms: 30_000 },
  end('settle'),
  CLAIM,
  end('settle'),
  { kind: 'set wall', aheadMs: -DAY },
];

const ESSENTIALS: readonly Step[] = [
  CLAIM,
  end('settle'),
  end('cancel'),
  { kind: 'wait', ms: 30_000 },
];

/** `share` of the runs are made: an implementation that asks elsewhere has no time for all. */
export function describeLaws(open: OpenLimits, share = 1): void {
  const runs = (all: number): number => Math.ceil(all * share);

  describe('laws', () => {
    test('for any calls, they answer what the model answers', async () => {
      let admitted = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
          admitted += await play(open, steps);
        }),
        { numRuns: runs(400), examples: [[LATE_END]] },
      );
      // A run in which nothing is let in would say little.
      expect(admitted).toBeGreaterThan(runs(400) / 2);
    }, 30_000);

    test.each([
      ['four of everything that can happen', EVERYTHING, 4],
      ['six claims, ends and waits', ESSENTIALS, 6],
    ] as const)(
      'in every sequence of %s',
      async (_, steps, length) => {
        let admitted = 0;
        let turn = 0;
        const every = Math.round(1 / share);
        for (const sequence of sequences(steps, length)) {
          turn += 1;
          if (turn % every !== 0) continue;
          // Two claims before, so that every short sequence has something to end.
          admitted += await play(open, [CLAIM, CLAIM, ...sequence]);
        }
        expect(admitted).toBeGreaterThan((steps.length ** length / every - 1) * 2);
      },
      60_000,
    );

    test('under steady demand every window admits its limit exactly, for any wall clock', async () => {
      const skew = fc.constantFrom(-31 * DAY, -HOUR, -1_000, 0, 1_000, HOUR, DAY);
      await fc.assert(
        fc.asyncProperty(
          fc.array(skew, { minLength: 1, maxLength: 20 }),
          fc.integer({ min: 1, max: 40 }),
          fc.integer({ min: 200, max: 1_400 }),
          async (skews, requestsPerMinute, everyMs) => {
            const { ask, wait, setWall, nowMs } = await createWorld(open);
            const plan = { ...PLAN, requestsPerMinute };
            const admittedAt: number[] = [];
            for (let turn = 0; turn * everyMs < 4 * MINUTE; turn += 1) {
              setWall(skews[turn % skews.length] ?? 0);
              const { started } = await ask({ plan });
              if (started !== undefined) admittedAt.push(nowMs());
              started?.settle(1);
              wait(everyMs);
            }
            // Windows as they must have been: each begins with the first request after the last.
            const windows: number[][] = [];
            for (const at of admittedAt) {
              const window = windows.at(-1);
              if (window?.[0] === undefined || at - window[0] >= MINUTE) windows.push([at]);
              else window.push(at);
            }
            const whole = windows.slice(0, 3).map((window) => window.length);
            expect(whole).toEqual([requestsPerMinute, requestsPerMinute, requestsPerMinute]);
            expect(windows[3]?.length ?? 0).toBeLessThanOrEqual(requestsPerMinute);
          },
        ),
        { numRuns: runs(30) },
      );
    }, 30_000);

    test('a restart at any moment leaves nothing more than there was, and no minute less than its limit', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(claim, { maxLength: 30 }), fc.nat(5_000), async (claims, ms) => {
          const world = await createWorld(open, MONTH_END);
          const plan = {
            ...PLAN,
            requestsPerMinute: 5,
            concurrentRequests: 9,
            dailyTokens: 50_000,
          };
          for (const each of claims) {
            // The books know when a request began, not when it was let in: they count it from then.
            const asked = { ...each, account: 'acct_1', model: 'm', plan, lagMs: 0 };
            const { started } = await world.ask(asked);
            if (each.bound % 3 === 0) started?.settle(each.prompt);
            else if (each.bound % 7 === 1) await started?.cancel();
            world.wait(ms + each.lagMs);
          }
          const before = await world.usage('acct_1', plan);
          await world.restart();
          const after = await world.usage('acct_1', plan);
          expect(after.requestsUsed).toBeGreaterThanOrEqual(before.requestsUsed);
          expect(after.tokensUsed).toBeGreaterThanOrEqual(before.tokensUsed);
          expect([after.dayTokens, after.monthTokens, after.inFlight]).toEqual([
            before.dayTokens,
            before.monthTokens,
            0,
          ]);
          world.wait(MINUTE);
          const fresh = await world.usage('acct_1', plan);
          expect([fresh.requestsUsed, fresh.tokensUsed]).toEqual([0, 0]);
        }),
        { numRuns: runs(200) },
      );
    }, 30_000);

    test('no 60 seconds hold more than two windows, restarts included', async () => {
      const plan = { ...PLAN, requestsPerMinute: 4 };
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ ms: fc.nat(9_000), dies: fc.nat(9) }), { maxLength: 80 }),
          async (turns) => {
            const world = await createWorld(open);
            const admittedAt: number[] = [];
            for (const { ms, dies } of turns) {
              if (dies === 0) await world.restart();
              const { started } = await world.ask({ plan });
              if (started !== undefined) admittedAt.push(world.timeMs());
              started?.settle(1);
              world.wait(ms);
            }
            for (const from of admittedAt) {
              const within = admittedAt.filter((at) => from <= at && at < from + MINUTE);
              expect(within.length).toBeLessThanOrEqual(2 * plan.requestsPerMinute);
            }
          },
        ),
        { numRuns: runs(300) },
      );
    }, 30_000);
  });
}
