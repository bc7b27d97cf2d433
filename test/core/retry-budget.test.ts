// Retries are at most a fifth of the requests of the last ten seconds, plus ten.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRetryBudget } from '../../src/core/retry-budget.ts';

test('a quiet server has ten in ten seconds, and then the next ones as time goes on', () => {
  const budget = createRetryBudget();
  const taken = (nowMs: number, times: number): number =>
    Array.from({ length: times }, () => budget.take('a', nowMs)).filter(Boolean).length;
  expect(taken(500, 12)).toBe(10);
  expect(taken(9_999, 2)).toBe(0);
  expect(taken(10_000, 12)).toBe(10);
});

test('a hundred requests pay for twenty more', () => {
  const budget = createRetryBudget();
  for (let request = 0; request < 100; request += 1) budget.note('a', 0);
  expect(Array.from({ length: 40 }, () => budget.take('a', 0)).filter(Boolean).length).toBe(30);
});

test('one account takes at most half of it while another one sends', () => {
  const budget = createRetryBudget();
  const taken = (account: string, times: number): number =>
    Array.from({ length: times }, () => budget.take(account, 500)).filter(Boolean).length;
  for (let request = 0; request < 50; request += 1) budget.note('attacker', 0);
  budget.note('victim', 0);
  expect([taken('attacker', 40), taken('victim', 40)]).toEqual([10, 10]);
});

type Event = { readonly afterMs: number; readonly kind: 'note' | 'take' };

test('never more, however requests and failures fall', () => {
  const events: fc.Arbitrary<Event[]> = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
      kind: fc.constantFrom('note', 'take'),
    }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(events, (all) => {
      const budget = createRetryBudget();
      const noted: number[] = [];
      const taken: number[] = [];
      let nowMs = 0;
      const recent = (times: readonly number[]): number =>
        times.filter((at) => Math.floor(at / 1_000) > Math.floor(nowMs / 1_000) - 10).length;
      for (const { afterMs, kind } of all) {
        nowMs += afterMs;
        if (kind === 'note') {
          budget.note('a', nowMs);
          noted.push(nowMs);
          continue;
        }
        const allowed = recent(taken) + 1 <= 10 + 0.2 * recent(noted) + 1e-9;
        expect(budget.take('a', nowMs)).toBe(allowed);
        if (allowed) taken.push(nowMs);
      }
    }),
  );
});
