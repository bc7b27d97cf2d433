// The laws of the runaway guard: what a window of ten minutes contains, what a habit is, and what it
// allows.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { DAY_MS } from '../../src/core/calendar.ts';
import { micro } from '../../src/core/money.ts';
import {
  allowedSpend,
  createSpendWindow,
  GRACE_MS,
  HABIT_DAYS,
  habitSpan,
  SLICE_MS,
  WINDOW_MS,
} from '../../src/core/runaway.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 23);

const instant = fc.integer({ min: START, max: START + 60 * DAY_MS });
const amount = fc.bigInt(0n, 10n ** 15n).map(micro);

type Step = { readonly afterMs: number; readonly endedAgoMs: number; readonly amount: bigint };

const steps = (backMs: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      afterMs: fc.integer({ min: -backMs, max: 5 * 60_000 }),
      endedAgoMs: fc.integer({ min: 0, max: 2 * WINDOW_MS }),
      amount,
    }),
    { maxLength: 60 },
  );

/** What ended in the ten minutes before an instant, added up by hand, in whole slices. */
function sumAt(
  charges: readonly { readonly slice: number; readonly amount: bigint }[],
  nowMs: number,
) {
  const inWindow = charges.filter(({ slice }) => {
    const startMs = slice * SLICE_MS;
    return startMs > nowMs - WINDOW_MS && startMs <= nowMs + 60_000;
  });
  return inWindow.reduce((sum, each) => sum + each.amount, 0n);
}

function replay(run: readonly Step[], check: (total: bigint, byHand: bigint) => void): void {
  const window = createSpendWindow<string>();
  const charges: { slice: number; amount: bigint }[] = [];
  let nowMs = START;
  for (const { afterMs, endedAgoMs, amount: charged } of run) {
    nowMs += afterMs;
    const slice = Math.floor((nowMs - endedAgoMs) / SLICE_MS);
    charges.push({ slice, amount: charged });
    window.add({ key: 'one', slice, amount: micro(charged) }, nowMs);
    window.add({ key: 'other', slice, amount: micro(1n) }, nowMs);
    const [found] = window.above(micro(0n), nowMs).filter(([key]) => key === 'one');
    check(found?.[1] ?? 0n, sumAt(charges, nowMs));
  }
}

test('a window has what ended within ten minutes, and nothing else', () => {
  fc.assert(
    fc.property(steps(0), (run) =>
      replay(run, (total, byHand) => {
        expect(total).toBe(byHand);
      }),
    ),
  );
});

test('a clock that is set back or ahead never adds to a window', () => {
  fc.assert(
    fc.property(steps(2 * DAY_MS), (run) =>
      replay(run, (total, byHand) => {
        expect(total).toBeLessThanOrEqual(byHand);
      }),
    ),
  );
});

test('only keys above the floor are looked at', () => {
  const window = createSpendWindow<string>();
  const slice = START / SLICE_MS;
  window.add({ key: 'at', slice, amount: micro(5n) }, START);
  window.add({ key: 'above', slice, amount: micro(6n) }, START);
  expect(window.above(micro(5n), START)).toEqual([['above', micro(6n)]]);
  expect(window.above(micro(5n), START + WINDOW_MS)).toEqual([]);
});

test('the floor and the multiple of the busiest hour are allowed, whichever is more', () => {
  fc.assert(
    fc.property(amount, amount, fc.integer({ min: 1, max: 1_000 }), (floor, busiest, factor) => {
      const allowed: bigint = allowedSpend({ factor, floor }, busiest);
      const multiple = BigInt(factor) * busiest;
      expect(allowed >= floor && allowed >= multiple).toBe(true);
      expect(allowed === floor || allowed === multiple).toBe(true);
    }),
  );
});

test('a habit is made of whole hours, of four weeks, and of no hour of the last day', () => {
  fc.assert(
    fc.property(instant, (nowMs) => {
      const { fromMs, untilMs } = habitSpan(nowMs);
      expect([fromMs % HOUR_MS, untilMs % HOUR_MS]).toEqual([0, 0]);
      const last = untilMs - HOUR_MS;
      expect(last <= nowMs - DAY_MS && last > nowMs - DAY_MS - HOUR_MS).toBe(true);
      expect(nowMs - fromMs).toBeGreaterThanOrEqual(HABIT_DAYS * DAY_MS);
      expect(nowMs - fromMs).toBeLessThan(HABIT_DAYS * DAY_MS + HOUR_MS);
    }),
  );
});

test('what a key spent until a day after it was resumed is its habit after the grace period', () => {
  const after = fc.integer({ min: -10 * DAY_MS, max: DAY_MS });
  fc.assert(
    fc.property(instant, after, (resumedAt, afterMs) => {
      const spentAt = resumedAt + afterMs;
      const hour = spentAt - (spentAt % HOUR_MS);
      const { fromMs, untilMs } = habitSpan(resumedAt + GRACE_MS);
      expect(hour >= fromMs && hour < untilMs).toBe(true);
    }),
  );
});
