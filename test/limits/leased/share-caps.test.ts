// The daily cap of an account on several nodes that decide by themselves: what all of them used before
// a node counts leaves it a share of the rest, and together they stay within the cap.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { decide } from '../../../src/limits/scope.ts';
import { PLAN } from '../world.ts';

const IDLE = { window: { requests: 0, tokens: 0, startedAt: 0 }, slotsUsed: 0 } as never;

/** Whether a node lets through a request of `tokens`, where it counted `own` since it began. */
function admits(cap: number, before: number, own: number, tokens: number, nodes: number): boolean {
  const day = { before, tokens: before + own, reserved: 0 };
  const plan = { ...PLAN, tokensPerMinute: 1e12, dailyTokens: cap };
  const request = { plan, promptTokens: tokens, outputBound: 1, capNodes: nodes } as never;
  const used = { ofPlan: IDLE, ofModel: IDLE, day, month: { tokens: 0, reserved: 0 } };
  return decide(request, used).kind === 'fits';
}

test('what was used before is not taken from a share', () => {
  expect(admits(900, 360, 0, 100, 3)).toBe(true);
  expect(admits(900, 360, 100, 100, 3)).toBe(false);
  expect(admits(900, 360, 100, 100, 1)).toBe(true);
  expect(admits(900, 900, 0, 1, 3)).toBe(false);
});

test('law: nodes that begin at any time stay within the cap together', () => {
  const step = fc.record({
    node: fc.nat(2),
    tokens: fc.integer({ min: 1, max: 90 }),
    begins: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 900 }),
      fc.array(step, { maxLength: 60 }),
      (past, steps) => {
        const cap = 1_000;
        const nodes = Array.from({ length: 3 }, () => ({ before: past, own: 0 }));
        let used = past;
        for (const { node: index, tokens, begins } of steps) {
          const node = nodes[index];
          if (node === undefined) continue;
          if (begins) Object.assign(node, { before: used, own: 0 });
          if (!admits(cap, node.before, node.own, tokens, 3)) continue;
          node.own += tokens + 1;
          used += tokens + 1;
        }
        expect(used).toBeLessThanOrEqual(cap);
      },
    ),
  );
});
