// The circuit breaker: when it opens, when it is probed, and what closes it, by examples and by
// laws over any sequence of events.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Breaker, type BreakerFailure, createBreaker } from '../../src/core/breaker.ts';

const BASE_MS = 5_000;

function failure(nowMs: number, more: Partial<BreakerFailure> = {}): BreakerFailure {
  return { nowMs, coolDownMs: BASE_MS, afterContent: false, repeated: false, ...more };
}

function enter(breaker: Breaker, nowMs: number): number {
  const pass = breaker.enter(nowMs);
  if (pass === undefined) throw new Error('no probe is allowed');
  return pass;
}

function fail(breaker: Breaker, nowMs: number, more: Partial<BreakerFailure> = {}): boolean {
  return breaker.failed(enter(breaker, nowMs), failure(nowMs, more));
}

function succeed(breaker: Breaker, nowMs: number): void {
  const pass = enter(breaker, nowMs);
  breaker.answered(pass, nowMs);
  breaker.finished(pass);
}

function times(count: number, work: () => void): void {
  for (let turn = 0; turn < count; turn += 1) work();
}

/** Opened by five failures in a row at 0. */
function opened(): Breaker {
  const breaker = createBreaker();
  times(5, () => fail(breaker, 0));
  return breaker;
}

describe('it opens', () => {
  test('after five failures in a row, and says so once', () => {
    const breaker = createBreaker();
    expect([1, 2, 3, 4, 5].map(() => fail(breaker, 0))).toEqual([false, false, false, false, true]);
    expect([breaker.state(0), breaker.enter(0), breaker.waitMs(0)]).toEqual([
      'open',
      undefined,
      BASE_MS,
    ]);
  });

  test('not where something succeeds in between', () => {
    const breaker = createBreaker();
    times(4, () => fail(breaker, 0));
    succeed(breaker, 0);
    times(4, () => fail(breaker, 0));
    expect(breaker.state(0)).toBe('closed');
  });

  test('at half of twenty in ten seconds, and not at less of either', () => {
    const play = (rounds: number, each: readonly boolean[], gapMs: number): string => {
      const breaker = createBreaker();
      let nowMs = 0;
      for (let round = 0; round < rounds && breaker.state(nowMs) === 'closed'; round += 1) {
        for (const isGood of each) {
          nowMs += gapMs;
          if (breaker.state(nowMs) !== 'closed') break;
          if (isGood) succeed(breaker, nowMs);
          else fail(breaker, nowMs);
        }
      }
      return breaker.state(nowMs);
    };
    expect(play(10, [true, false], 100)).toBe('open');
    expect(play(9, [true, false], 100)).toBe('closed');
    expect(play(100, [true, true, false], 100)).toBe('closed');
    // Fewer than twenty in any ten seconds.
    expect(play(100, [true, false], 600)).toBe('closed');
  });

  test('at once where the upstream asks for it, for as long as it asks, up to a minute', () => {
    for (const [retryAfterMs, waitMs] of [
      [3_000, 3_000],
      [20_000, 20_000],
      [9_000_000, 60_000],
    ] as const) {
      const breaker = createBreaker();
      expect(fail(breaker, 7, { retryAfterMs })).toBe(true);
      expect(breaker.waitMs(7)).toBe(waitMs);
    }
  });

  test('after five answers in a row that broke off, although each had begun', () => {
    const breaker = createBreaker();
    const cut = (): boolean => {
      const pass = enter(breaker, 0);
      breaker.answered(pass, 0);
      return breaker.failed(pass, failure(0, { afterContent: true }));
    };
    times(4, cut);
    succeed(breaker, 0);
    times(4, cut);
    expect([breaker.state(0), cut(), breaker.state(0)]).toEqual(['closed', true, 'open']);
  });

  test('not by one request that asks again and again', () => {
    const breaker = createBreaker();
    times(100, () => fail(breaker, 0, { repeated: true }));
    expect(breaker.state(0)).toBe('closed');
  });
});

describe('a probe', () => {
  test('is let in alone, when the time is over', () => {
    const breaker = opened();
    expect(breaker.enter(BASE_MS - 1)).toBeUndefined();
    expect(breaker.state(BASE_MS)).toBe('half_open');
    enter(breaker, BASE_MS);
    expect([breaker.enter(BASE_MS), breaker.waitMs(BASE_MS), breaker.state(BASE_MS)]).toEqual([
      undefined,
      1_000,
      'half_open',
    ]);
  });

  test('closes it with its first content, and everything is forgotten', () => {
    const breaker = opened();
    breaker.answered(enter(breaker, BASE_MS), BASE_MS);
    times(4, () => fail(breaker, BASE_MS));
    expect([breaker.state(BASE_MS), breaker.waitMs(BASE_MS)]).toEqual(['closed', 0]);
    expect(fail(breaker, BASE_MS)).toBe(true);
    expect(breaker.waitMs(BASE_MS)).toBe(BASE_MS);
  });

  test('that fails opens it for twice as long each time, up to a minute', () => {
    const breaker = opened();
    let nowMs = 0;
    const waits: number[] = [];
    times(6, () => {
      nowMs += breaker.waitMs(nowMs);
      expect(fail(breaker, nowMs, { repeated: true })).toBe(true);
      waits.push(breaker.waitMs(nowMs));
    });
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  test('that comes to nothing gives its turn back', () => {
    const breaker = opened();
    breaker.released(enter(breaker, BASE_MS), BASE_MS);
    expect(breaker.waitMs(BASE_MS)).toBe(0);
    enter(breaker, BASE_MS);
  });
});

test('what was let in before says nothing about what is now', () => {
  const breaker = createBreaker();
  const old = enter(breaker, 0);
  times(5, () => fail(breaker, 0));
  breaker.answered(old, 0);
  expect(breaker.state(0)).toBe('open');
  const probe = enter(breaker, BASE_MS);
  breaker.failed(old, failure(BASE_MS));
  breaker.released(old, BASE_MS);
  breaker.answered(old, BASE_MS);
  breaker.finished(old);
  expect([breaker.state(BASE_MS), breaker.enter(BASE_MS)]).toEqual(['half_open', undefined]);
  breaker.answered(probe, BASE_MS);
  expect(breaker.state(BASE_MS)).toBe('closed');
});

type Action = {
  readonly afterMs: number;
  readonly kind: 'enter' | 'answered' | 'finished' | 'failed' | 'released';
  readonly which: number;
  readonly retryAfterMs: number;
};

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    afterMs: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 400 }),
      fc.integer({ min: 0, max: 100_000 }),
    ),
    kind: fc.constantFrom('enter', 'enter', 'enter', 'answered', 'finished', 'failed', 'released'),
    which: fc.nat(),
    retryAfterMs: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(100_000)),
  }),
  { maxLength: 200 },
);

test('one probe at a time, none while it is open, and never open for ever', () => {
  fc.assert(
    fc.property(actions, (all) => {
      const breaker = createBreaker();
      const passes: number[] = [];
      let probe: number | undefined;
      let nowMs = 0;
      for (const { afterMs, kind, which, retryAfterMs } of all) {
        nowMs += afterMs;
        const before = breaker.state(nowMs);
        if (kind === 'enter') {
          const waitMs = breaker.waitMs(nowMs);
          const pass = breaker.enter(nowMs);
          expect(pass === undefined).toBe(waitMs > 0);
          expect(waitMs).toBeLessThanOrEqual(60_000);
          if (before === 'open') expect(pass).toBeUndefined();
          if (before === 'half_open') {
            expect(pass === undefined).toBe(probe !== undefined);
            probe ??= pass;
          }
          if (pass !== undefined) passes.push(pass);
          continue;
        }
        const [pass] = passes.splice(which % Math.max(passes.length, 1), 1);
        if (pass === undefined) continue;
        if (kind === 'failed') breaker.failed(pass, failure(nowMs, { retryAfterMs }));
        else if (kind !== 'finished') breaker[kind](pass, nowMs);
        else {
          // As the health of an upstream reports it: an answer without content has been one, too.
          breaker.answered(pass, nowMs);
          breaker.finished(pass);
        }
        // Passes may be equal while it is closed; a probe's belongs to it alone.
        if (pass !== probe) expect(isSame(before, breaker, nowMs)).toBe(true);
        if (pass === probe) probe = undefined;
        if (breaker.state(nowMs) === 'closed') probe = undefined;
      }
      // Calls in flight have no effect; then a probe is allowed.
      for (const pass of passes) breaker.released(pass, nowMs);
      expect(breaker.enter(nowMs + 60_000)).toBeDefined();
    }),
    { numRuns: 300 },
  );
});

/** What is not the probe's may open a closed breaker, and change no other. */
function isSame(before: string, breaker: Breaker, nowMs: number): boolean {
  return before === 'closed' || breaker.state(nowMs) === before;
}

test('a clock that stands still or leaps does no harm', () => {
  const breaker = createBreaker();
  times(19, () => succeed(breaker, 0));
  fail(breaker, 10 ** 12);
  fail(breaker, 5);
  expect(breaker.state(10 ** 12)).toBe('closed');
});

test('it opens where the counts say so, and nowhere else', () => {
  const outcomes = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.nat(500), fc.nat(4_000)),
      isGood: fc.boolean(),
    }),
    { minLength: 20, maxLength: 120 },
  );
  fc.assert(
    fc.property(outcomes, (all) => {
      const breaker = createBreaker();
      const seen: { readonly second: number; readonly isGood: boolean }[] = [];
      let nowMs = 0;
      for (const { afterMs, isGood } of all) {
        nowMs += afterMs;
        const second = Math.floor(nowMs / 1_000);
        seen.push({ second, isGood });
        const recent = seen.filter((each) => each.second > second - 10);
        const failures = recent.filter((each) => !each.isGood).length;
        const isHalf = recent.length >= 20 && failures * 2 >= recent.length;
        const isRow = seen.length >= 5 && seen.slice(-5).every((each) => !each.isGood);
        if (isGood) succeed(breaker, nowMs);
        else expect(fail(breaker, nowMs)).toBe(isHalf || isRow);
        if (breaker.state(nowMs) !== 'closed') return;
      }
    }),
  );
});
