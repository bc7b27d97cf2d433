// The daily cap of an account on several nodes that decide by themselves: what all of them used before
// a node counts leaves it a share of the rest. Together they stay within the cap, unless a node forgets
// the account and counts again beside one that goes on: then the excess is bounded.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { decide } from '../../../src/limits/scope.ts';
import { PLAN } from '../world.ts';

const IDLE = { window: { requests: 0, tokens: 0, startedAt: 0 }, slotsUsed: 0 } as never;

/** Whether a node lets through a request of `tokens`, where it counted `own` since it began. */
function admits(cap: number, before: number, own: number, tokens: number, nodes: number): boolean {
  const day = { before, tokens: before + own, reserved: 0 };
  const plan = { ...PLAN, tokensPerMinute: 1e12, dailyTokens: cap };
  const request = { plan, promptTokens: tokens, outputBound: 1, nodes } as never;
  const used = { ofPlan: IDLE, ofModel: IDLE, day, month: { tokens: 0, reserved: 0 } };
  return decide(request, used).kind === 'fits';
}

test('what was used before is not taken from a share', () => {
  expect(admits(900, 360, 0, 100, 3)).toBe(true);
  expect(admits(900, 360, 100, 100, 3)).toBe(false);
  expect(admits(900, 360, 100, 100, 1)).toBe(true);
  expect(admits(900, 900, 0, 1, 3)).toBe(false);
});

type Step = { readonly node: number; readonly tokens: number; readonly begins: boolean };

/** What three nodes let through of a cap of 1,000; with `forgets`, a node may begin again. */
function usedAfter(past: number, steps: readonly Step[], forgets: boolean): number {
  const nodes = Array.from({ length: 3 }, () => ({ before: past, own: 0 }));
  let used = past;
  for (const { node: index, tokens, begins } of steps) {
    const node = nodes[index];
    if (node === undefined) continue;
    if (begins && (forgets || node.own === 0)) Object.assign(node, { before: used, own: 0 });
    if (!admits(1_000, node.before, node.own, tokens, 3)) continue;
    node.own += tokens + 1;
    used += tokens + 1;
  }
  return used;
}

const STEPS = fc.array(
  fc.record({
    node: fc.nat(2),
    tokens: fc.integer({ min: 1, max: 90 }),
    begins: fc.boolean(),
  }),
  { maxLength: 60 },
);
const PAST = fc.integer({ min: 0, max: 900 });

test('law: nodes that begin at any time stay within the cap together', () => {
  fc.assert(
    fc.property(PAST, STEPS, (past, steps) => {
      expect(usedAfter(past, steps, false)).toBeLessThanOrEqual(1_000);
    }),
  );
});

test('law: a node that forgets an account again and again leaves the others their shares', () => {
  const share = (past: number) => Math.floor((1_000 - past) / 3);
  fc.assert(
    fc.property(PAST, STEPS, (past, steps) => {
      expect(usedAfter(past, steps, true)).toBeLessThanOrEqual(1_000 + 2 * share(past));
    }),
  );
  const spends = (node: number, count: number, begins: boolean): Step[] =>
    Array.from({ length: count }, (_, at) => ({ node, tokens: 90, begins: begins && at === 0 }));
  const forgetful = [3, 2, 1, 1, 1].flatMap((count) => spends(0, count, true));
  expect(usedAfter(0, [...forgetful, ...spends(1, 3, false)], true)).toBe(1_001);
});
