// The five built-in plans, and "the lower limit applies".

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  BUILT_IN_PLANS,
  DEFAULT_PLAN,
  effectiveLimits,
  type IncidentLimits,
  lowerIncident,
  planIncludes,
} from '../../src/core/plan.ts';

test('the built-in plans have the limits that are sold', () => {
  const rows = BUILT_IN_PLANS.map((plan) => [
    plan.name,
    plan.requestsPerMinute,
    plan.tokensPerMinute,
    plan.concurrentRequests,
    plan.maxContext,
    plan.maxApiKeys,
  ]);
  expect(rows).toEqual([
    ['Pay as you go', 60, 200_000, 4, 128_000, 5],
    ['Starter', 60, 300_000, 4, 128_000, 5],
    ['Pro', 300, 1_000_000, 10, 256_000, 20],
    ['Power', 1_000, 4_000_000, 30, 256_000, 50],
    ['Business', 3_000, 15_000_000, 100, 256_000, 200],
  ]);
  expect(BUILT_IN_PLANS.map((plan) => plan.slug)).toContain(DEFAULT_PLAN);
});

test('a plan includes the models that it names, or all of them', () => {
  const [plan] = BUILT_IN_PLANS;
  if (plan === undefined) throw new Error('no plan');
  expect(planIncludes(plan, 'anything')).toBe(true);
  const narrow = { ...plan, models: ['a', 'b'] };
  expect(['a', 'b', 'c', '*'].map((slug) => planIncludes(narrow, slug))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

const limit = fc.integer({ min: 1, max: 10_000 });
const limits = fc.record({
  requestsPerMinute: limit,
  tokensPerMinute: limit,
  concurrentRequests: limit,
});
const incident: fc.Arbitrary<IncidentLimits> = fc.record(
  { requestsPerMinute: limit, tokensPerMinute: limit, concurrentRequests: limit },
  { requiredKeys: [] },
);
const NAMES = ['requestsPerMinute', 'tokensPerMinute', 'concurrentRequests'] as const;

describe('the lower limit applies', () => {
  test('of plan and model, member by member', () => {
    fc.assert(
      fc.property(limits, fc.option(incident, { nil: undefined }), (plan, lower) => {
        const effective = effectiveLimits(plan, lower);
        for (const name of NAMES) {
          expect(effective[name]).toBe(Math.min(plan[name], lower?.[name] ?? plan[name]));
        }
      }),
    );
  });

  test('of the catalog and the operator: the order does not matter, and absent means not lowered', () => {
    fc.assert(
      fc.property(incident, incident, (one, other) => {
        const lower = lowerIncident(one, other);
        expect(lowerIncident(other, one)).toEqual(lower);
        for (const name of NAMES) {
          const set = [one[name], other[name]].filter((value) => value !== undefined);
          expect(lower?.[name]).toBe(set.length === 0 ? undefined : Math.min(...set));
        }
      }),
    );
    expect(lowerIncident(undefined, undefined)).toBeUndefined();
    expect(lowerIncident({ requestsPerMinute: 3 }, undefined)).toEqual({ requestsPerMinute: 3 });
    expect(lowerIncident(undefined, { requestsPerMinute: 3 })).toEqual({ requestsPerMinute: 3 });
  });
});
