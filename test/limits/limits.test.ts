import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { IncidentLimits, Plan } from '../../src/core/plan.ts';
import { type Claim, createLimits } from '../../src/limits/limits.ts';

const plan: Plan = {
  slug: 'test',
  name: 'Test',
  requestsPerMinute: 3,
  tokensPerMinute: 10_000,
  concurrentRequests: 2,
  maxContext: 128_000,
  maxApiKeys: 5,
  models: ['*'],
};

/** Saturday noon, so that the next midnight is exactly half a day away. */
const NOON = Date.UTC(2026, 10, 21, 12);

function clerk(used: Record<string, number> = {}) {
  let nowMs = NOON;
  const asked: [string, number][] = [];
  const limits = createLimits({
    clock: () => nowMs,
    usageSince: (accountId, sinceMs) => {
      asked.push([accountId, sinceMs]);
      return used[new Date(sinceMs).toISOString().slice(0, 10)] ?? 0;
    },
  });
  const claim = (options: {
    account?: string;
    model?: string;
    plan?: Plan;
    incident?: IncidentLimits;
    prompt?: number;
    bound?: number;
  }) =>
    limits.claim({
      accountId: options.account ?? 'acct_1',
      model: options.model ?? 'swift',
      plan: options.plan ?? plan,
      incident: options.incident,
      promptTokens: options.prompt ?? 10,
      outputBound: options.bound ?? 10,
    });
  const claimed = (options: Parameters<typeof claim>[0] = {}): Claim => {
    const result = claim(options);
    if (result.kind === 'refused') throw new Error(`refused: ${result.code}`);
    return result.claim;
  };
  const refusal = (options: Parameters<typeof claim>[0] = {}) => {
    const result = claim(options);
    return result.kind === 'refused' ? [result.code, result.retryAfterSeconds] : ['claimed', 0];
  };
  return { limits, claim, claimed, refusal, asked, advance: (ms: number) => (nowMs += ms) };
}

describe('requests per minute', () => {
  test('the window starts with the first admitted request and resets 60 seconds later', () => {
    const { claimed, refusal, advance } = clerk();
    claimed().settle(0);
    advance(20_000);
    claimed().settle(0);
    claimed().settle(0);
    expect(refusal()).toEqual(['rate_limit_exceeded', 40]);
    advance(39_999);
    expect(refusal()).toEqual(['rate_limit_exceeded', 1]);
    advance(1);
    claimed().settle(0);
  });

  test('the view shows limit, rest and reset, after the request was counted', () => {
    const { claimed, advance } = clerk();
    claimed({ prompt: 100, bound: 9_000 }).settle(0);
    advance(1_500);
    expect(claimed({ prompt: 1, bound: 2 }).view).toEqual({
      limitRequests: 3,
      remainingRequests: 1,
      limitTokens: 10_000,
      remainingTokens: 10_000 - 100 - 4_096 - 3,
      resetRequestsSeconds: 59,
    });
  });

  test('accounts do not share a window', () => {
    const { claimed, refusal } = clerk();
    for (let request = 0; request < 3; request += 1) claimed().settle(0);
    expect(refusal()).toEqual(['rate_limit_exceeded', 60]);
    claimed({ account: 'acct_2' }).settle(0);
  });

  test('a clock that is set back neither opens the window for ever nor keeps it shut', () => {
    const { claimed, refusal, advance } = clerk();
    for (let request = 0; request < 3; request += 1) claimed().settle(0);
    advance(-3_600_000);
    claimed().settle(0);
    claimed().settle(0);
    claimed().settle(0);
    expect(refusal()).toEqual(['rate_limit_exceeded', 60]);
  });
});

describe('tokens per minute', () => {
  test('a request is charged its prompt and at most 4,096 tokens of output', () => {
    const { claimed, refusal } = clerk();
    claimed({ prompt: 1_000, bound: 100_000 }).settle(0);
    expect(refusal({ prompt: 810, bound: 100_000 })).toEqual(['tokens_per_minute_exceeded', 60]);
    claimed({ prompt: 808, bound: 100_000 }).settle(0);
  });

  test('a request above the whole budget is refused even by an unused window', () => {
    const { refusal } = clerk();
    expect(refusal({ prompt: 10_001, bound: 1 })).toEqual(['tokens_per_minute_exceeded', 60]);
  });
});

describe('concurrency', () => {
  test('slots come back when a request ends, however it ends', () => {
    const { claimed, refusal } = clerk();
    const first = claimed();
    const second = claimed();
    expect(refusal()).toEqual(['concurrency_limit_exceeded', 2]);
    first.settle(1);
    first.settle(1);
    second.cancel();
    claimed();
  });

  test('a slot that nobody renews expires, and a renewed one does not', () => {
    const { claimed, refusal, advance } = clerk();
    claimed();
    const kept = claimed();
    advance(80_000);
    kept.renew();
    advance(20_000);
    claimed();
    expect(refusal()).toEqual(['concurrency_limit_exceeded', 2]);
  });
});

describe('daily and monthly caps', () => {
  const capped = { ...plan, dailyTokens: 1_000, monthlyTokens: 5_000 };

  test('the estimate is charged at the start and corrected at the end', () => {
    const { claimed, refusal } = clerk();
    const first = claimed({ plan: capped, prompt: 500, bound: 400 });
    expect(refusal({ plan: capped, prompt: 100, bound: 1 })).toEqual([
      'daily_limit_exceeded',
      43_200,
    ]);
    first.settle(200);
    claimed({ plan: capped, prompt: 700, bound: 100 });
  });

  test('what was used before a restart counts', () => {
    const { refusal, asked } = clerk({ '2026-11-21': 990, '2026-11-01': 4_000 });
    expect(refusal({ plan: capped })).toEqual(['daily_limit_exceeded', 43_200]);
    expect(asked).toEqual([
      ['acct_1', Date.UTC(2026, 10, 21)],
      ['acct_1', Date.UTC(2026, 10, 1)],
    ]);
  });

  test('a new day opens the daily cap, and the monthly one stays', () => {
    const { refusal, claimed, advance } = clerk({ '2026-11-21': 990, '2026-11-01': 4_985 });
    advance(43_200_000);
    claimed({ plan: capped, prompt: 1, bound: 1 }).settle(14);
    expect(refusal({ plan: capped })).toEqual(['monthly_limit_exceeded', 86_400]);
  });
});

describe('incident limits of a model', () => {
  test('the lower number applies, is shown, and leaves other models alone', () => {
    const { claimed, refusal } = clerk();
    const incident = { requestsPerMinute: 1 };
    const { view } = claimed({ incident });
    expect([view.limitRequests, view.remainingRequests, view.limitTokens]).toEqual([1, 0, 10_000]);
    expect(refusal({ incident })).toEqual(['rate_limit_exceeded', 60]);
    claimed({ model: 'other' }).settle(0);
  });

  test('a higher number than the plan changes nothing', () => {
    const { claimed } = clerk();
    const { view } = claimed({ incident: { requestsPerMinute: 50, concurrentRequests: 50 } });
    expect(view.limitRequests).toBe(3);
  });
});

test('a request window of its own for count_tokens leaves generation alone', () => {
  const { limits, claimed } = clerk();
  for (let request = 0; request < 3; request += 1) {
    expect(limits.claimCount('acct_1', plan)).toBeUndefined();
  }
  expect(limits.claimCount('acct_1', plan)).toBe(60);
  expect(claimed().view.remainingRequests).toBe(2);
});

test('a cancelled claim does not start the window: the first admitted request does', () => {
  const { limits, claimed, advance } = clerk();
  claimed().cancel();
  advance(30_000);
  expect(limits.usage('acct_1').resetSeconds).toBe(60);
  const first = claimed();
  advance(10_000);
  claimed().cancel();
  expect(limits.usage('acct_1').resetSeconds).toBe(50);
  first.settle(1);
});

test('a request that began before anybody counted the day is counted at its end', () => {
  const { limits, claimed } = clerk();
  const claim = claimed();
  expect(limits.usage('acct_1').dayTokens).toBe(0);
  claim.settle(15);
  expect(limits.usage('acct_1')).toMatchObject({ dayTokens: 15, monthTokens: 15 });
});

test('the wait for tokens is that of the limit that refuses', () => {
  const { claimed, refusal, advance } = clerk();
  const incident = { tokensPerMinute: 100 };
  claimed({ model: 'other', prompt: 10, bound: 10 }).settle(0);
  advance(30_000);
  claimed({ incident, prompt: 80, bound: 10 }).settle(0);
  advance(1_000);
  expect(refusal({ incident, prompt: 80, bound: 10 })).toEqual(['tokens_per_minute_exceeded', 59]);
  expect(refusal({ incident, prompt: 9_990, bound: 10 })).toEqual([
    'tokens_per_minute_exceeded',
    59,
  ]);
  advance(-1_000);
  expect(refusal({ prompt: 9_990, bound: 10 })).toEqual(['tokens_per_minute_exceeded', 30]);
});

test('a cancelled claim leaves no trace', () => {
  const { limits, claimed } = clerk();
  const capped = { ...plan, dailyTokens: 1_000, monthlyTokens: 5_000 };
  limits.usage('acct_1');
  const before = limits.usage('acct_1');
  claimed({ plan: capped, incident: { requestsPerMinute: 2 } }).cancel();
  expect(limits.usage('acct_1')).toEqual(before);
});

describe('laws', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('claim' as const), prompt: fc.nat(6_000), bound: fc.nat(9_000) }),
    fc.record({ kind: fc.constant('end' as const), index: fc.nat(5), cancel: fc.boolean() }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(40_000) }),
  );

  test('no limit is ever exceeded, and a refusal consumes nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { limits, claim, advance } = clerk();
        const open: Claim[] = [];
        for (const each of steps) {
          if (each.kind === 'wait') advance(each.ms);
          else if (each.kind === 'end') {
            const [ended] = open.splice(each.index % Math.max(1, open.length), 1);
            if (each.cancel) ended?.cancel();
            else ended?.settle(5);
          } else {
            const before = limits.usage('acct_1');
            const result = claim(each);
            if (result.kind === 'claimed') open.push(result.claim);
            else expect(limits.usage('acct_1')).toEqual(before);
          }
          const used = limits.usage('acct_1');
          expect(used.inFlight).toBeLessThanOrEqual(plan.concurrentRequests);
          expect(used.requestsUsed).toBeLessThanOrEqual(plan.requestsPerMinute);
          expect(used.tokensUsed).toBeLessThanOrEqual(plan.tokensPerMinute);
          expect(
            Math.min(used.requestsUsed, used.tokensUsed, used.dayTokens),
          ).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  test('a lower limit never admits more', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        (steps, lower) => {
          const admitted = (limit: number): number => {
            const { claim, advance } = clerk();
            let count = 0;
            for (const each of steps) {
              if (each.kind === 'wait') advance(each.ms);
              if (each.kind !== 'claim') continue;
              const result = claim({
                plan: { ...plan, requestsPerMinute: limit, concurrentRequests: 99 },
                prompt: 1,
                bound: 1,
              });
              if (result.kind === 'claimed') count += 1;
            }
            return count;
          };
          expect(admitted(lower)).toBeLessThanOrEqual(admitted(3));
        },
      ),
    );
  });
});
