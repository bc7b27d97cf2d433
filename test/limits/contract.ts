// The contract of every implementation of the limits, by examples and by laws. Call
// `describeLimits` with a function that opens one over the given clocks, requests and history.

import { describe, expect, test } from 'bun:test';
import { tokenCount } from '../../src/core/money.ts';
import { describeLaws } from './laws.ts';
import { createWorld, MONTH_END, NOON, type OpenLimits, PLAN, type Running } from './world.ts';

const DAY = 86_400_000;

const HOUR = 3_600_000;

/** Requests in flight have reserved the rest of a cap. */
const WAITS = ['concurrency_limit_exceeded', 2] as const;

/** `lawShare`: the share of the laws' runs that are made. */
export function describeLimits(name: string, open: OpenLimits, lawShare = 1): void {
  describe(`limits ${name}`, () => {
    describeWindows(open);
    describeSlots(open);
    describeCaps(open);
    describeIncidents(open);
    describePlans(open);
    describeRestarts(open);
    describeLaws(open, lawShare);
  });
}

function describeWindows(open: OpenLimits): void {
  describe('requests per minute', () => {
    test('the window starts with the first admitted request and resets 60 seconds later', async () => {
      const { claimed, refusal, wait } = await createWorld(open);
      (await claimed()).settle(0);
      wait(20_000);
      (await claimed()).settle(0);
      (await claimed()).settle(0);
      expect(await refusal()).toEqual(['rate_limit_exceeded', 40]);
      wait(39_999);
      expect(await refusal()).toEqual(['rate_limit_exceeded', 1]);
      wait(1);
      (await claimed()).settle(0);
    });

    test('the view shows limit, rest and reset, after the request was counted', async () => {
      const { claimed, wait } = await createWorld(open);
      (await claimed({ prompt: 100, bound: 9_000 })).settle(0);
      wait(1_500);
      expect((await claimed({ prompt: 1, bound: 2 })).claim.view).toEqual({
        limitRequests: 3,
        remainingRequests: 1,
        limitTokens: 10_000,
        remainingTokens: 10_000 - 100 - 4_096 - 3,
        resetRequestsSeconds: 59,
      });
    });

    test('accounts do not share a window', async () => {
      const { claimed, refusal } = await createWorld(open);
      for (let request = 0; request < 3; request += 1) (await claimed()).settle(0);
      expect(await refusal()).toEqual(['rate_limit_exceeded', 60]);
      (await claimed({ account: 'acct_2' })).settle(0);
    });

    test('a cancelled claim does not start it: the first admitted request does', async () => {
      const { usage, claimed, wait } = await createWorld(open);
      await (await claimed()).cancel();
      wait(30_000);
      expect((await usage()).resetSeconds).toBe(60);
      await claimed();
      wait(10_000);
      await (await claimed()).cancel();
      expect((await usage()).resetSeconds).toBe(50);
    });

    test('a request that is refused after its claim stays counted, and takes nothing else', async () => {
      const { claimed, refusal, usage, wait } = await createWorld(open);
      for (let request = 0; request < 3; request += 1) await (await claimed()).cancel('request');
      expect(await usage()).toMatchObject({
        requestsUsed: 3,
        tokensUsed: 0,
        inFlight: 0,
        dayTokens: 0,
      });
      expect(await refusal()).toEqual(['rate_limit_exceeded', 60]);
      wait(60_000);
      await claimed();
    });

    test('a request that is refused before its claim is counted, and begins a window', async () => {
      const { limits, refusal, usage, wait } = await createWorld(open);
      expect(await limits().left('acct_1', PLAN)).toMatchObject({ remainingRequests: 3 });
      await limits().countRefused('acct_1', PLAN);
      wait(20_000);
      expect(await limits().left('acct_1', PLAN)).toEqual({
        limitRequests: 3,
        remainingRequests: 2,
        limitTokens: 10_000,
        remainingTokens: 10_000,
        resetRequestsSeconds: 40,
        freeSlots: 2,
      });
      for (let request = 0; request < 5; request += 1) {
        await limits().countRefused('acct_1', PLAN);
      }
      expect(await refusal()).toEqual(['rate_limit_exceeded', 40]);
      expect(await usage()).toMatchObject({ requestsUsed: 3, tokensUsed: 0, inFlight: 0 });
      wait(40_000);
      expect(await refusal()).toEqual(['claimed', 0]);
    });

    test('a claim that is cancelled after its window owes nothing to the next one', async () => {
      const { usage, claimed, wait } = await createWorld(open);
      const late = await claimed();
      wait(60_000);
      await claimed({ prompt: 5 });
      expect(await late.cancel()).toMatchObject({ remainingRequests: 2, remainingTokens: 9_985 });
      expect(await usage()).toMatchObject({ requestsUsed: 1, tokensUsed: 15, inFlight: 1 });
    });

    test('a cancelled claim gets figures that are true at that moment', async () => {
      const { claimed, wait } = await createWorld(open);
      (await claimed()).settle(0);
      const late = await claimed();
      wait(60_000);
      expect(await late.cancel()).toEqual({
        limitRequests: 3,
        remainingRequests: 3,
        limitTokens: 10_000,
        remainingTokens: 10_000,
        resetRequestsSeconds: 60,
      });
    });
  });

  describe('tokens per minute', () => {
    test('a request is charged its prompt and at most 4,096 tokens of output', async () => {
      const { claimed, refusal } = await createWorld(open);
      (await claimed({ prompt: 1_000, bound: 100_000 })).settle(0);
      expect(await refusal({ prompt: 809, bound: 100_000 })).toEqual([
        'tokens_per_minute_exceeded',
        60,
      ]);
      (await claimed({ prompt: 808, bound: 100_000 })).settle(0);
    });

    test('a request above the whole budget is refused even by an unused window', async () => {
      const { refusal } = await createWorld(open);
      expect(await refusal({ prompt: 10_000, bound: 1 })).toEqual([
        'tokens_per_minute_exceeded',
        60,
      ]);
    });
  });

  test('count_tokens has a request window of its own, which leaves generation alone', async () => {
    const { limits, usage, wait } = await createWorld(open);
    const count = () => limits().claimCount('acct_1', PLAN);
    for (let request = 0; request < 3; request += 1) expect(await count()).toBeUndefined();
    wait(20_500);
    expect(await count()).toBe(40);
    expect((await usage()).requestsUsed).toBe(0);
    wait(39_500);
    expect(await count()).toBeUndefined();
  });

  describe('the wall clock', () => {
    // A leap second, a correction, daylight saving applied by hand, a day, a month.
    const jumps = [-31 * DAY, -DAY, -HOUR, -10_000, -1_000, 1_000, 10_000, HOUR, DAY, 31 * DAY];

    test.each(jumps)('set by %d ms opens no window and closes none', async (jump) => {
      const { claimed, refusal, usage, wait, setWall } = await createWorld(open);
      for (let request = 0; request < 3; request += 1) (await claimed()).settle(0);
      wait(10_000);
      setWall(jump);
      expect(await refusal()).toEqual(['rate_limit_exceeded', 50]);
      expect((await usage()).resetSeconds).toBe(50);
      wait(30_000);
      setWall(0);
      expect(await refusal()).toEqual(['rate_limit_exceeded', 20]);
      setWall(-jump);
      wait(20_000);
      for (let request = 0; request < 3; request += 1) (await claimed()).settle(0);
      expect(await refusal()).toEqual(['rate_limit_exceeded', 60]);
    });

    test.each(jumps)('set by %d ms frees no slot and keeps none', async (jump) => {
      const { claimed, refusal, setWall, wait } = await createWorld(open);
      const plan = { ...PLAN, requestsPerMinute: 99 };
      await claimed({ plan });
      (await claimed({ plan })).lose();
      setWall(jump);
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
      wait(30_000);
      await claimed({ plan });
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
    });
  });
}

function describeSlots(open: OpenLimits): void {
  const plan = { ...PLAN, requestsPerMinute: 99 };

  describe('concurrency', () => {
    test('slots come back when a request ends, however it ends, and once', async () => {
      const { claimed, refusal, usage } = await createWorld(open);
      const [first, second] = [await claimed({ plan }), await claimed({ plan })];
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
      first.settle(1);
      first.claim.settle(1);
      await claimed({ plan });
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
      await second.cancel();
      await second.claim.cancel();
      second.claim.settle(9);
      await claimed({ plan });
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
      expect(await usage()).toMatchObject({ requestsUsed: 3, inFlight: 2, dayTokens: 41 });
    });

    test('an account has as many free slots left as it does not use', async () => {
      const { claimed, limits, wait } = await createWorld(open);
      const freeSlots = async () => (await limits().left('acct_1', plan)).freeSlots;
      const [first, second] = [await claimed({ plan }), await claimed({ plan })];
      expect(await freeSlots()).toBe(0);
      first.settle(1);
      expect(await freeSlots()).toBe(1);
      second.lose();
      wait(30_000);
      expect(await freeSlots()).toBe(2);
    });

    test('the slot of a request that lives is kept, however long it says nothing', async () => {
      const { claimed, refusal, wait } = await createWorld(open);
      const [one] = [await claimed({ plan }), await claimed({ plan })];
      for (const ms of [29_999, 1, 1, 90_000, 3_600_000]) {
        wait(ms);
        expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
      }
      one.settle(5);
      await claimed({ plan });
    });

    test('the slot of a request that will never end is free within 30 seconds', async () => {
      const { claimed, refusal, usage, wait } = await createWorld(open);
      const [lost] = [await claimed({ plan }), await claimed({ plan })];
      wait(100_000);
      expect((await usage()).inFlight).toBe(2);
      lost.lose();
      wait(30_000);
      expect((await usage()).inFlight).toBe(1);
      await claimed({ plan });
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
    });

    test('a late end of a claim that had lost its slot takes no slot from another', async () => {
      const { claimed, refusal, usage, wait } = await createWorld(open);
      const lost = [await claimed({ plan }), await claimed({ plan })];
      for (const each of lost) each.lose();
      wait(30_000);
      await claimed({ plan });
      await claimed({ plan });
      lost[0]?.settle(7);
      await lost[1]?.cancel();
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
      expect(await usage()).toMatchObject({ inFlight: 2, requestsUsed: 3, dayTokens: 47 });
    });

    test('the claims that are open can be listed, those without a slot too', async () => {
      const { limits, claimed, timeMs } = await createWorld(open);
      const startedAt = timeMs();
      const [first, , ended] = [
        await claimed({ plan }),
        await claimed({ account: 'acct_2', plan }),
        await claimed({ plan }),
      ];
      first.claim.freeSlot();
      ended.settle(1);
      expect(await limits().claims()).toEqual([
        { requestId: 'req_1', accountId: 'acct_1', startedAt },
        { requestId: 'req_2', accountId: 'acct_2', startedAt },
      ]);
    });

    test('a claim whose request is long gone is listed once more, and let go', async () => {
      const { limits, claimed, wait } = await createWorld(open);
      const lost = await claimed({ plan });
      const kept = await claimed({ plan });
      lost.lose();
      wait(30_000);
      const ids = async () => (await limits().claims()).map(({ requestId }) => requestId);
      expect(await ids()).toEqual(['req_1', 'req_2']);
      expect(await ids()).toEqual(['req_2']);
      kept.settle(1);
      expect(await ids()).toEqual([]);
    });

    test('a slot that is given up early is free at once, and the rest waits for the end', async () => {
      const { claimed, refusal, usage } = await createWorld(open);
      const [draining] = [await claimed({ plan }), await claimed({ plan })];
      draining.claim.freeSlot();
      draining.claim.freeSlot();
      expect(await usage()).toMatchObject({ inFlight: 1, dayTokens: 40 });
      await claimed({ plan });
      draining.settle(4);
      expect(await refusal({ plan })).toEqual(['concurrency_limit_exceeded', 2]);
      expect(await usage()).toMatchObject({ inFlight: 2, dayTokens: 44 });
    });
  });
}

function describeCaps(open: OpenLimits): void {
  const capped = {
    ...PLAN,
    requestsPerMinute: 99,
    concurrentRequests: 99,
    dailyTokens: 1_000,
    monthlyTokens: 5_000,
  };

  describe('daily and monthly caps', () => {
    test('the estimate is charged at the start and corrected at the end', async () => {
      const { claimed, refusal } = await createWorld(open);
      const first = await claimed({ plan: capped, prompt: 500, bound: 400 });
      expect(await refusal({ plan: capped, prompt: 100, bound: 1 })).toEqual(WAITS);
      first.settle(200);
      const second = await claimed({ plan: capped, prompt: 700, bound: 100 });
      expect(await refusal({ plan: capped, prompt: 0, bound: 1 })).toEqual(WAITS);
      second.settle(800);
      expect(await refusal({ plan: capped, prompt: 0, bound: 1 })).toEqual([
        'daily_limit_exceeded',
        43_200,
      ]);
    });

    test('a bound above the rest of the day or month is lowered to it', async () => {
      const { claimed, usage } = await createWorld(open);
      (await claimed({ plan: capped, prompt: 300, bound: 100 })).settle(400);
      const lowered = await claimed({ plan: capped, prompt: 500, bound: 8_000 });
      expect(lowered.claim.outputBound).toBe(tokenCount(100));
      expect((await usage()).dayTokens).toBe(1_000);
      lowered.settle(510);
      // Of a bound above the first slice, what the cap leaves is more than what is taken for it.
      const wide = { ...capped, dailyTokens: 20_000, monthlyTokens: 10_910 };
      const long = await claimed({ plan: wide, prompt: 1_000, bound: 32_000 });
      expect(long.claim.outputBound).toBe(tokenCount(9_000));
      expect((await usage()).monthTokens).toBe(910 + 1_000 + 4_096);
    });

    test('the wait is that of a request whose bound was lowered', async () => {
      const { claimed, refusal, wait } = await createWorld(open);
      const day = { ...capped, dailyTokens: 9_000, monthlyTokens: 99_000 };
      (await claimed({ plan: day, prompt: 905, bound: 4_096 })).settle(4_000);
      wait(1_000);
      // 5,000 tokens fit the model, whose window has not begun, and not what the plan has left.
      const model = { model: 'other', incident: { tokensPerMinute: 5_000 } };
      const asked = { plan: day, prompt: 905, bound: 4_096, ...model };
      expect(await refusal(asked)).toEqual(['tokens_per_minute_exceeded', 59]);
    });

    test('what requests in flight have reserved is not used, and does not lower a bound', async () => {
      const { claimed, refusal } = await createWorld(open);
      const first = await claimed({ plan: capped, prompt: 500, bound: 400 });
      expect(await refusal({ plan: capped, prompt: 50, bound: 700 })).toEqual(WAITS);
      expect((await claimed({ plan: capped, prompt: 50, bound: 50 })).claim.outputBound).toBe(
        tokenCount(50),
      );
      first.claim.freeSlot();
      expect(await refusal({ plan: capped, prompt: 50, bound: 700 })).toEqual(WAITS);
      first.settle(10);
      expect((await claimed({ plan: capped, prompt: 50, bound: 700 })).claim.outputBound).toBe(
        tokenCount(700),
      );
    });

    test('a prompt above the rest is refused by the cap, and the refusal states how much that is', async () => {
      const { ask, claimed } = await createWorld(open);
      (await claimed({ plan: capped, prompt: 300, bound: 100 })).settle(400);
      const refused = (prompt: number) => ask({ plan: capped, prompt, bound: 10 });
      expect((await refused(600)).result).toMatchObject({
        code: 'daily_limit_exceeded',
        message: expect.stringContaining('leaves 600 tokens until UTC midnight'),
        retryAfterSeconds: 43_200,
      });
      const { started } = await refused(599);
      expect(started?.claim.outputBound).toBe(tokenCount(1));
      started?.settle(600);
      const { result } = await refused(1);
      expect(result).toMatchObject({ code: 'daily_limit_exceeded' });
      expect(result).not.toHaveProperty('message');
    });

    test('a new day opens the daily cap, and the monthly one stays', async () => {
      const { refusal, claimed, wait } = await createWorld(open);
      const plan = { ...capped, monthlyTokens: 1_010 };
      (await claimed({ plan, prompt: 500, bound: 490 })).settle(990);
      expect(await refusal({ plan })).toEqual(['daily_limit_exceeded', 43_200]);
      wait(DAY / 2);
      (await claimed({ plan, prompt: 10, bound: 10 })).settle(14);
      expect(await refusal({ plan })).toEqual(['monthly_limit_exceeded', 86_400]);
    });

    test('a request settles in the day and the month in which it started', async () => {
      const { claimed, usage, wait } = await createWorld(open, MONTH_END);
      const late = await claimed({ plan: capped, prompt: 100, bound: 100 });
      wait(60_000);
      expect(await usage()).toMatchObject({ dayTokens: 0, monthTokens: 0 });
      await claimed({ plan: capped, prompt: 5, bound: 5 });
      late.settle(900);
      expect(await usage()).toMatchObject({ dayTokens: 10, monthTokens: 10 });
    });

    test('a request that was read over midnight belongs to the day before, and waits for its end', async () => {
      const { claimed, refusal, usage, wait } = await createWorld(open, MONTH_END);
      (await claimed({ plan: capped, prompt: 500, bound: 490 })).settle(990);
      wait(31_000);
      expect(await refusal({ plan: capped, lagMs: 2_000 })).toEqual(['daily_limit_exceeded', 1]);
      await claimed({ plan: capped, lagMs: 1_000 });
      expect((await usage()).dayTokens).toBe(20);
    });

    test('a clock that goes back over midnight and forward again opens nothing and counts once', async () => {
      const { claimed, refusal, usage, wait, setWall } = await createWorld(open, MONTH_END);
      const first = await claimed({ plan: capped, prompt: 500, bound: 400 });
      wait(31_000);
      await claimed({ plan: capped, prompt: 700, bound: 100 });
      setWall(-10_000);
      expect(await refusal({ plan: capped, prompt: 100, bound: 1 })).toEqual(WAITS);
      expect((await usage()).dayTokens).toBe(900);
      first.settle(300);
      const third = await claimed({ plan: capped, prompt: 600, bound: 50 });
      expect((await usage()).dayTokens).toBe(950);
      setWall(0);
      expect(await usage()).toMatchObject({ dayTokens: 800, monthTokens: 800 });
      third.settle(0);
      expect(await refusal({ plan: capped, prompt: 200, bound: 1 })).toEqual(WAITS);
      setWall(-10_000);
      expect(await usage()).toMatchObject({ dayTokens: 300, monthTokens: 300 });
    });

    test('requests that began before the first read of the calendar are counted, running or not', async () => {
      const { claimed, refusal, usage } = await createWorld(open);
      const wide = { ...capped, dailyTokens: 1e9, monthlyTokens: 1e9 };
      const { dailyTokens, monthlyTokens, ...uncapped } = wide;
      expect([dailyTokens, monthlyTokens]).toEqual([1e9, 1e9]);
      (await claimed({ plan: uncapped, prompt: 100, bound: 100 })).settle(300);
      await claimed({ plan: uncapped, prompt: 350, bound: 349 });
      expect(await refusal({ plan: capped, prompt: 1, bound: 1 })).toEqual(WAITS);
      expect((await usage()).dayTokens).toBe(999);
    });
  });
}

function describeIncidents(open: OpenLimits): void {
  describe('incident limits of a model', () => {
    test('the lower number applies, is shown, and leaves other models alone', async () => {
      const { claimed, refusal } = await createWorld(open);
      const incident = { requestsPerMinute: 1 };
      const { view } = (await claimed({ incident })).claim;
      expect([view.limitRequests, view.remainingRequests, view.limitTokens]).toEqual([
        1, 0, 10_000,
      ]);
      expect(await refusal({ incident })).toEqual(['rate_limit_exceeded', 60]);
      (await claimed({ model: 'other' })).settle(0);
    });

    test('a higher number than the plan changes nothing', async () => {
      const { claimed } = await createWorld(open);
      const incident = { requestsPerMinute: 50, tokensPerMinute: 1e6, concurrentRequests: 50 };
      expect((await claimed({ incident })).claim.view).toMatchObject({
        limitRequests: 3,
        limitTokens: 10_000,
      });
    });

    test('limits that are set while requests run count those requests, and this minute', async () => {
      const { claimed, refusal } = await createWorld(open);
      const [running] = [await claimed(), await claimed({ model: 'other' })];
      const plan = { ...PLAN, concurrentRequests: 9 };
      expect(await refusal({ plan, incident: { concurrentRequests: 1 } })).toEqual([
        'concurrency_limit_exceeded',
        2,
      ]);
      running.settle(0);
      expect(await refusal({ plan, incident: { requestsPerMinute: 1 } })).toEqual([
        'rate_limit_exceeded',
        60,
      ]);
      expect(await refusal({ plan, incident: { tokensPerMinute: 39 } })).toEqual([
        'tokens_per_minute_exceeded',
        60,
      ]);
      await claimed({ plan, incident: { tokensPerMinute: 40, concurrentRequests: 1 } });
    });

    test('lifted limits leave nothing behind', async () => {
      const { claimed, refusal } = await createWorld(open);
      const incident = { requestsPerMinute: 1, concurrentRequests: 1, tokensPerMinute: 20 };
      const first = await claimed({ incident });
      expect(await refusal({ incident })).toEqual(['concurrency_limit_exceeded', 2]);
      expect((await claimed()).claim.view).toEqual({
        limitRequests: 3,
        remainingRequests: 1,
        limitTokens: 10_000,
        remainingTokens: 9_960,
        resetRequestsSeconds: 60,
      });
      first.settle(0);
      await claimed();
    });

    test('the wait is that of the limit that refuses, and the reset that of what is left', async () => {
      const { ask, claimed, refusal, wait } = await createWorld(open);
      const incident = { tokensPerMinute: 100, requestsPerMinute: 2 };
      (await claimed({ model: 'other', prompt: 10, bound: 10 })).settle(0);
      wait(30_000);
      (await claimed({ incident, prompt: 80, bound: 10 })).settle(0);
      wait(1_000);
      const both = { incident, prompt: 9_900, bound: 10 };
      expect(await refusal({ incident, prompt: 80, bound: 10 })).toEqual([
        'tokens_per_minute_exceeded',
        59,
      ]);
      expect(await refusal(both)).toEqual(['tokens_per_minute_exceeded', 59]);
      expect(await refusal({ prompt: 9_900, bound: 10 })).toEqual([
        'tokens_per_minute_exceeded',
        29,
      ]);
      // One request is left of either; then the plan's two are the fewer.
      const resets = async (requestsPerMinute: number) =>
        (await ask({ ...both, incident: { requestsPerMinute } })).result;
      const kinds = [await resets(2), await resets(9), await resets(1)];
      expect(
        kinds.map((result) =>
          result.kind === 'refused'
            ? [result.code, result.view.remainingRequests, result.view.resetRequestsSeconds]
            : result.kind,
        ),
      ).toEqual([
        ['tokens_per_minute_exceeded', 1, 59],
        ['tokens_per_minute_exceeded', 1, 29],
        ['rate_limit_exceeded', 0, 59],
      ]);
    });
  });
}

function describePlans(open: OpenLimits): void {
  describe('a change of plan', () => {
    test('that lowers is effective at once, with requests running, and raises likewise', async () => {
      const { claimed, refusal, ask } = await createWorld(open);
      const wide = { ...PLAN, requestsPerMinute: 9, concurrentRequests: 9 };
      const running: Running[] = [];
      for (let request = 0; request < 4; request += 1) running.push(await claimed({ plan: wide }));
      const lowered = (await ask()).result;
      expect(lowered).toMatchObject({
        kind: 'refused',
        code: 'concurrency_limit_exceeded',
        view: { limitRequests: 3, remainingRequests: 0, resetRequestsSeconds: 60 },
      });
      for (const each of running) each.settle(1);
      expect(await refusal()).toEqual(['rate_limit_exceeded', 60]);
      expect((await claimed({ plan: wide })).claim.view.remainingRequests).toBe(4);
    });
  });
}

function describeRestarts(open: OpenLimits): void {
  describe('a restart', () => {
    test('does not open a window: what the last minute admitted still counts', async () => {
      const { claimed, refusal, usage, wait, restart } = await createWorld(open);
      (await claimed({ prompt: 100, bound: 9_000 })).settle(0);
      wait(20_000);
      const cancelled = await claimed();
      await claimed();
      await cancelled.cancel();
      wait(10_500);
      await restart();
      expect(await usage()).toEqual({
        requestsUsed: 2,
        tokensUsed: 4_216,
        resetSeconds: 30,
        inFlight: 0,
        dayTokens: 20,
        monthTokens: 20,
      });
      await claimed();
      expect(await refusal()).toEqual(['rate_limit_exceeded', 30]);
      wait(29_500);
      (await claimed()).settle(0);
      await claimed({ account: 'acct_2' });
    });

    test('finds the window full where more was admitted than one window holds', async () => {
      const { claimed, refusal, wait, restart } = await createWorld(open);
      for (const ms of [50_000, 5_000, 5_000, 2_000, 3_000]) {
        (await claimed()).settle(0);
        wait(ms);
      }
      await restart();
      // The newest are 3, 5, 10 and 15 seconds old, and three are all that one window holds.
      expect(await refusal()).toEqual(['rate_limit_exceeded', 50]);
      wait(50_000);
      for (let request = 0; request < 3; request += 1) (await claimed()).settle(0);
    });

    test('does not take the window that is over for the one that was running', async () => {
      const { claimed, usage, wait, restart } = await createWorld(open);
      for (const ms of [40_000, 40_000, 20_000]) {
        (await claimed()).settle(0);
        wait(ms);
      }
      await restart();
      expect(await usage()).toMatchObject({ requestsUsed: 1, resetSeconds: 40 });
    });

    test('counts a model for the limits that it is given later', async () => {
      const { claimed, refusal, wait, restart } = await createWorld(open);
      (await claimed()).settle(0);
      wait(1_000);
      await restart();
      await claimed({ model: 'other' });
      expect(await refusal({ incident: { requestsPerMinute: 1 } })).toEqual([
        'rate_limit_exceeded',
        59,
      ]);
    });

    test('after a minute has no past but in the caps', async () => {
      const { usage, claimed, wait, restart } = await createWorld(open);
      (await claimed()).settle(7);
      await restart();
      wait(60_000);
      expect(await usage()).toMatchObject({ requestsUsed: 0, resetSeconds: 60, dayTokens: 7 });
    });

    test('with a clock that was set back opens nothing either', async () => {
      const { claimed, refusal, setWall, restart } = await createWorld(open);
      for (let request = 0; request < 3; request += 1) (await claimed()).settle(0);
      setWall(-HOUR);
      await restart();
      expect(await refusal()).toEqual(['rate_limit_exceeded', 60]);
    });

    test('charges the caps what running requests turned out to have used', async () => {
      const capped = { ...PLAN, dailyTokens: 1_000, monthlyTokens: 2_000 };
      const { claimed, refusal, usage, wait, restart } = await createWorld(open, NOON);
      (await claimed({ plan: capped, prompt: 100, bound: 100 })).settle(50);
      await claimed({ plan: capped, prompt: 600, bound: 100 });
      wait(60_000);
      await restart(() => 650);
      expect(await usage()).toMatchObject({ inFlight: 0, dayTokens: 700, monthTokens: 700 });
      expect(await refusal({ plan: capped, prompt: 300, bound: 1 })).toEqual([
        'daily_limit_exceeded',
        43_140,
      ]);
      (await claimed({ plan: capped, prompt: 299, bound: 1 })).settle(1);
      expect((await usage()).dayTokens).toBe(701);
    });
  });
}
