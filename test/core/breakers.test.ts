// The breakers of a model at an upstream: what one account's failures block, and what opens the
// breaker of all accounts.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { BreakerFailure } from '../../src/core/breaker.ts';
import { type Breakers, type BreakersPass, createBreakers } from '../../src/core/breakers.ts';

const BASE_MS = 5_000;

function failure(nowMs: number, more: Partial<BreakerFailure> = {}): BreakerFailure {
  return { nowMs, coolDownMs: BASE_MS, afterContent: false, repeated: false, ...more };
}

function enter(breakers: Breakers, account: string, nowMs: number): BreakersPass {
  const pass = breakers.enter(account, nowMs);
  if (pass === undefined) throw new Error(`${account} may not ask`);
  return pass;
}

/** Fails where it may ask. */
function fail(
  breakers: Breakers,
  account: string,
  nowMs: number,
  more: Partial<BreakerFailure> = {},
): void {
  const pass = breakers.enter(account, nowMs);
  if (pass === undefined) return;
  breakers.failed(pass, failure(nowMs, more));
  breakers.released(pass, nowMs);
}

function succeed(breakers: Breakers, account: string, nowMs: number): void {
  const pass = enter(breakers, account, nowMs);
  breakers.answered(pass, nowMs);
  breakers.finished(pass);
}

function times(count: number, work: () => void): void {
  for (let turn = 0; turn < count; turn += 1) work();
}

function judge(breakers: Breakers, isWell: boolean, nowMs: number, retryAfterMs = 0): boolean {
  if (!breakers.takeProbe()) throw new Error('no probe is wanted');
  return breakers.judged(isWell, { nowMs, coolDownMs: BASE_MS, retryAfterMs });
}

const waits = (breakers: Breakers, nowMs: number, ...accounts: readonly string[]): number[] =>
  accounts.map((account) => breakers.waitMs(account, nowMs));

/** Opened for all at 0, by failures of two accounts and a probe. */
function opened(): Breakers {
  const breakers = createBreakers();
  times(3, () => fail(breakers, 'ada', 0));
  times(2, () => fail(breakers, 'bob', 0));
  judge(breakers, false, 0);
  return breakers;
}

describe('the failures of one account', () => {
  test('bind it alone, however many they are', () => {
    const breakers = createBreakers();
    let [longestMs, probes] = [0, 0];
    for (let nowMs = 0; nowMs < 300_000; nowMs += 100) {
      fail(breakers, 'ada', nowMs, nowMs % 1_000 === 0 ? { retryAfterMs: 3_600_000 } : {});
      if (breakers.takeProbe()) {
        breakers.judged(true, { nowMs, coolDownMs: BASE_MS });
        probes += 1;
      }
      longestMs = Math.max(longestMs, breakers.waitMs('ada', nowMs));
    }
    expect(longestMs).toBe(60_000);
    expect(probes).toBeLessThan(10);
    expect(waits(breakers, 300_000, 'bob', 'cy')).toEqual([0, 0]);
    expect(breakers.state(300_000).kind).toBe('closed');
  });

  test('want a probe when its breaker opens, which binds all where it fails', () => {
    for (const isWell of [true, false]) {
      const breakers = createBreakers();
      succeed(breakers, 'bob', 0);
      times(4, () => fail(breakers, 'ada', 0));
      expect(breakers.takeProbe()).toBe(false);
      fail(breakers, 'ada', 0);
      expect([breakers.refusesAlone('ada', 0), breakers.state(0).kind]).toEqual([true, 'closed']);
      judge(breakers, isWell, 10);
      expect(breakers.refusesAlone('ada', 10)).toBe(isWell);
      expect(waits(breakers, 10, 'bob')).toEqual([isWell ? 0 : BASE_MS]);
    }
  });

  test('pay for five dearer fallbacks in ten minutes, and for more where a probe fails', () => {
    const breakers = createBreakers();
    const taken = (nowMs: number): number => {
      let count = 0;
      while (count < 100 && breakers.takeDearer('ada', nowMs)) count += 1;
      return count;
    };
    expect([taken(0), taken(599_999), breakers.takeDearer('bob', 0)]).toEqual([5, 0, true]);
    judge(breakers, true, 599_999);
    expect([taken(600_000), breakers.takeProbe()]).toEqual([5, false]);
    expect([taken(620_000), judge(breakers, false, 620_000), taken(620_000)]).toEqual([
      0,
      true,
      100,
    ]);
  });
});

describe('failures of two accounts', () => {
  test('want a probe, and open the breaker of all where that fails', () => {
    const breakers = createBreakers();
    times(4, () => fail(breakers, 'ada', 0));
    expect(breakers.takeProbe()).toBe(false);
    fail(breakers, 'bob', 0);
    expect(waits(breakers, 0, 'ada', 'bob', 'cy')).toEqual([0, 0, 0]);
    expect([judge(breakers, false, 10), ...waits(breakers, 10, 'ada', 'cy')]).toEqual([
      true,
      BASE_MS,
      BASE_MS,
    ]);
    expect([breakers.enter('cy', 10), breakers.state(10).kind]).toEqual([undefined, 'open']);
  });

  test('bind no other account where the probe is answered, and the next one is made in ten seconds', () => {
    const breakers = createBreakers();
    const made: number[] = [];
    for (let nowMs = 0; nowMs < 60_000; nowMs += 50) {
      for (const account of ['ada', 'bob', 'cy', 'dan']) fail(breakers, account, nowMs);
      expect(breakers.waitMs('victim', nowMs)).toBe(0);
      if (!breakers.takeProbe()) continue;
      made.push(nowMs);
      breakers.judged(true, { nowMs, coolDownMs: BASE_MS });
    }
    expect(made.length).toBeLessThanOrEqual(6);
    expect(made.length).toBeGreaterThan(1);
  });

  test('count for nothing once another request is answered', () => {
    const breakers = createBreakers();
    times(4, () => fail(breakers, 'ada', 0));
    fail(breakers, 'bob', 0);
    succeed(breakers, 'cy', 0);
    expect([judge(breakers, false, 10), breakers.state(10).kind]).toEqual([false, 'closed']);
  });

  test('are half of twenty in ten seconds', () => {
    const breakers = createBreakers();
    for (let turn = 0; turn < 10; turn += 1) {
      succeed(breakers, 'victim', 0);
      expect(breakers.takeProbe()).toBe(false);
      fail(breakers, `account ${turn}`, 0);
    }
    expect(judge(breakers, false, 0)).toBe(true);
  });

  test('that ask for peace want a probe at once, and open it for the reported time', () => {
    const breakers = createBreakers();
    succeed(breakers, 'cy', 0);
    fail(breakers, 'ada', 0, { retryAfterMs: 3_600_000 });
    expect(waits(breakers, 0, 'ada', 'bob')).toEqual([60_000, 0]);
    fail(breakers, 'bob', 1_000, { retryAfterMs: 3_600_000 });
    judge(breakers, false, 1_000, 20_000);
    expect(waits(breakers, 1_000, 'cy')).toEqual([20_000]);
  });

  test('after content are counted apart', () => {
    const breakers = createBreakers();
    const cut = (account: string): void => {
      const pass = enter(breakers, account, 0);
      breakers.answered(pass, 0);
      breakers.failed(pass, failure(0, { afterContent: true }));
    };
    times(4, () => cut('ada'));
    cut('bob');
    expect(judge(breakers, false, 0)).toBe(true);
  });
});

describe('a trial', () => {
  test('is one request and a probe, and the probe decides where the request fails', () => {
    const breakers = opened();
    const trial = enter(breakers, 'mallory', BASE_MS);
    expect([breakers.enter('bob', BASE_MS), ...waits(breakers, BASE_MS, 'bob')]).toEqual([
      undefined,
      1_000,
    ]);
    breakers.failed(trial, failure(BASE_MS));
    expect(breakers.state(BASE_MS).kind).toBe('half_open');
    judge(breakers, true, BASE_MS);
    expect([breakers.state(BASE_MS).kind, ...waits(breakers, BASE_MS, 'bob')]).toEqual([
      'closed',
      0,
    ]);
  });

  test('ends with the first answer, regardless of what the probe reports later', () => {
    const breakers = opened();
    breakers.answered(enter(breakers, 'cy', BASE_MS), BASE_MS);
    expect(waits(breakers, BASE_MS, 'ada', 'bob')).toEqual([0, 0]);
    judge(breakers, false, BASE_MS);
    expect(breakers.state(BASE_MS).kind).toBe('closed');
  });

  test('whose probe fails opens it for twice as long each time, up to a minute', () => {
    const breakers = opened();
    const cooldowns: number[] = [];
    let nowMs = 0;
    times(6, () => {
      nowMs += breakers.waitMs('cy', nowMs);
      fail(breakers, 'cy', nowMs);
      expect(judge(breakers, false, nowMs)).toBe(false);
      cooldowns.push(breakers.waitMs('cy', nowMs));
    });
    expect(cooldowns).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });
});

test('one account never binds another one while probes are answered', () => {
  const steps = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.nat(2_000), fc.nat(70_000)),
      kind: fc.constantFrom('failed', 'failed', 'cut', 'answered', 'stalls', 'leaves'),
      retryAfterMs: fc.oneof(fc.constant(0), fc.nat(10_000_000)),
      repeated: fc.boolean(),
    }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const breakers = createBreakers();
      let nowMs = 0;
      for (const { afterMs, kind, retryAfterMs, repeated } of all) {
        nowMs += afterMs;
        succeed(breakers, 'victim', nowMs);
        const pass = breakers.enter('mallory', nowMs);
        if (pass !== undefined) {
          if (kind === 'cut' || kind === 'answered') breakers.answered(pass, nowMs);
          if (kind === 'failed' || kind === 'cut') {
            const afterContent = kind === 'cut';
            breakers.failed(pass, failure(nowMs, { retryAfterMs, repeated, afterContent }));
          }
          if (kind === 'leaves') breakers.released(pass, nowMs);
        }
        if (breakers.takeProbe()) breakers.judged(true, { nowMs, coolDownMs: BASE_MS });
        expect(breakers.waitMs('victim', nowMs)).toBe(0);
        succeed(breakers, 'victim', nowMs);
      }
    }),
  );
});
