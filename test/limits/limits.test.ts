// The limits of one process: they pass the suite of the contract, and however many accounts there
// are, they stay quick and small and forget nothing that counts.

import { expect, test } from 'bun:test';
import { utcDay } from '../../src/core/calendar.ts';
import {
  createAccountState,
  createAccountStates,
  LEASE_MS,
  rollAccount,
} from '../../src/limits/account.ts';
import { createLimits } from '../../src/limits/limits.ts';
import { type Period, periodAt } from '../../src/limits/period.ts';
import { describeLimits } from './contract.ts';
import { createWorld, NOON, PLAN } from './world.ts';

describeLimits('of one process', createLimits);

describeLimits('of one process whose books answer later', ({ history, ...dependencies }) =>
  createLimits({
    ...dependencies,
    history: {
      admittedSince: async (sinceMs) => history.admittedSince(sinceMs),
      mark: async () => history.mark(),
      usedBefore: async (...of) => history.usedBefore(...of),
    },
  }),
);

test('idle accounts are forgotten a few at a time; those in use never are', () => {
  const live = new Set(['req_1']);
  const states = createAccountStates(100, (requestId) => live.has(requestId));
  const add = (accountId: string, nowMs: number) => {
    const state = createAccountState([], PLAN, nowMs);
    states.add(accountId, state, nowMs);
    return state;
  };
  const open = {
    model: 'swift',
    startedAt: 0,
    hasSlot: true,
    leaseUntil: 0,
    tokens: 0,
    periods: [],
  };
  const inUse = add('in use', 0);
  inUse.claims.add({ ...open, requestId: 'req_1' });
  add('lost', 0).claims.add({ ...open, requestId: 'req_2' });
  for (let other = 0; other < 200; other += 1) add(`early ${other}`, 0);
  // Within a minute of their last use, all of them may still count.
  expect(states.size()).toBe(202);
  for (let other = 0; other < 1_000; other += 1) {
    add(`late ${other}`, 60_000 + other * 1_000);
    expect(states.size()).toBeLessThanOrEqual(202);
  }
  expect(states.size()).toBeLessThanOrEqual(101);
  expect([states.find('in use'), states.find('lost'), states.find('early 0')]).toEqual([
    inUse,
    undefined,
    undefined,
  ]);
  expect([...inUse.claims][0]?.leaseUntil).toBeGreaterThan(1_000_000 - 100 * LEASE_MS);
});

test('a hundred thousand accounts slow no claim down, and what they used still counts', async () => {
  const world = await createWorld(createLimits);
  const capped = { ...PLAN, dailyTokens: 1_000, monthlyTokens: 5_000 };
  const running = await world.claimed({ account: 'busy', prompt: 300 });
  (await world.claimed({ account: 'idle', prompt: 200 })).settle(400);
  const startedAt = performance.now();
  for (let other = 0; other < 100_000; other += 1) {
    const asked = await world.ask({ account: `other ${other}` });
    asked.started?.settle(1);
    world.wait(5);
  }
  // Walking through all of them for each new one would take minutes.
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(await world.usage('busy')).toMatchObject({ inFlight: 1, dayTokens: 310 });
  running.settle(7);
  expect(await world.usage('busy')).toMatchObject({ inFlight: 0, dayTokens: 7 });
  expect(await world.refusal({ account: 'idle', plan: capped, prompt: 600, bound: 1 })).toEqual([
    'daily_limit_exceeded',
    42_700,
  ]);
  expect(await world.usage('idle')).toMatchObject({ dayTokens: 400, monthTokens: 400 });
}, 30_000);

test('an account is kept until the books have what it used, and its window is over', async () => {
  const world = await createWorld(createLimits);
  const crowd = async (name: string): Promise<void> => {
    for (let other = 0; other < 30_000; other += 1) {
      await world.limits().usage(`${name} ${other}`, PLAN);
    }
  };
  const long = await world.claimed({ account: 'long' });
  for (const account of ['lost', 'counter']) await world.usage(account);
  world.wait(59_000);
  (await world.claimed({ account: 'lost' })).lose();
  const count = () => world.limits().claimCount('counter', PLAN);
  for (let request = 0; request < 3; request += 1) expect(await count()).toBeUndefined();
  world.wait(41_000);
  // The claim has ended, and the ledger is about to write it down.
  long.claim.settle(400);
  await crowd('first');
  expect(await world.usage('long')).toMatchObject({ dayTokens: 400 });
  expect(await world.usage('lost')).toMatchObject({ requestsUsed: 1, inFlight: 0 });
  expect(await count()).toBe(19);
}, 30_000);

test('the books are asked once for a day and a month, and not at all without caps', async () => {
  let asked = 0;
  const world = await createWorld((dependencies) =>
    createLimits({
      ...dependencies,
      history: {
        ...dependencies.history,
        usedBefore(...of) {
          asked += 1;
          return dependencies.history.usedBefore(...of);
        },
      },
    }),
  );
  const capped = { ...PLAN, dailyTokens: 1_000, monthlyTokens: 5_000 };
  (await world.claimed()).settle(5);
  expect(asked).toBe(0);
  for (let turn = 0; turn < 4; turn += 1) {
    (await world.ask({ plan: capped })).started?.settle(1);
    await world.usage();
    expect(asked).toBe(2);
  }
});

test('of the days that have gone by, the latest are kept', () => {
  const days: Period[] = [];
  const first = periodAt(days, NOON, utcDay);
  for (let day = 1; day < 20; day += 1) periodAt(days, NOON + day * 86_400_000, utcDay);
  expect(days.map(({ fromMs }) => (fromMs - first.fromMs) / 86_400_000)).toEqual([
    19, 18, 17, 16, 15, 14, 13, 12,
  ]);
});

test('windows of models that are not asked any more are let go', () => {
  const past = { accountId: 'acct_1', startedAt: 0, tokens: 5 };
  const state = createAccountState(
    [
      { ...past, model: 'late', atMs: -10 },
      { ...past, model: 'early', atMs: -50 },
    ],
    PLAN,
    0,
  );
  const models = (nowMs: number) => {
    rollAccount(state, nowMs, () => false);
    return [...state.models.keys()];
  };
  expect(models(59_949)).toEqual(['late', 'early']);
  expect(models(59_950)).toEqual(['late']);
});
