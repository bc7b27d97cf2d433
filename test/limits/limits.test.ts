// The limits of one process: they pass the contract, and with any number of accounts they stay fast
// and small and keep every count that matters.

import { expect, test } from 'bun:test';
import { createLimits } from '../../src/limits/limits.ts';
import { cpuTimer } from '../support/cpu-time.ts';
import { describeLimits } from './contract.ts';
import { createWorld, NOON, PLAN } from './world.ts';

const DAY = 86_400_000;

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

test('a hundred thousand accounts slow no claim down, and what they used still counts', async () => {
  const world = await createWorld(createLimits);
  const capped = { ...PLAN, dailyTokens: 1_000, monthlyTokens: 5_000 };
  const running = await world.claimed({ account: 'busy', prompt: 300 });
  (await world.claimed({ account: 'idle', prompt: 200 })).settle(400);
  const cpuMs = cpuTimer();
  for (let other = 0; other < 100_000; other += 1) {
    const asked = await world.ask({ account: `other ${other}` });
    asked.started?.settle(1);
    world.wait(5);
  }
  // Walking through all of them for each new one would take minutes.
  expect(cpuMs()).toBeLessThan(10_000);
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

test('of the days that have gone by, the latest four are kept', async () => {
  const asked: number[] = [];
  const world = await createWorld((dependencies) =>
    createLimits({
      ...dependencies,
      history: {
        ...dependencies.history,
        usedBefore(accountId, span, mark) {
          const days = (span.untilMs - span.fromMs) / DAY;
          if (days === 1) asked.push((span.fromMs - NOON + DAY / 2) / DAY);
          return dependencies.history.usedBefore(accountId, span, mark);
        },
      },
    }),
  );
  for (const day of [0, 1, 2, 3, 2, 1, 0, 3, 4, 1, 0]) {
    world.setWall(day * DAY);
    await world.usage();
  }
  expect(asked).toEqual([0, 1, 2, 3, 4, 0]);
});

test('among many accounts, every claim counts for its own', async () => {
  const world = await createWorld(createLimits);
  const accounts = Array.from({ length: 3_000 }, (_, index) => `account ${index}`);
  const claims = [];
  for (const account of accounts) claims.push(await world.claimed({ account }));
  const used = () => Promise.all(accounts.map((account) => world.usage(account)));
  for (const each of await used()) expect(each).toMatchObject({ requestsUsed: 1, inFlight: 1 });
  for (const claim of claims) claim.settle(1);
  for (const each of await used()) expect(each).toMatchObject({ requestsUsed: 1, inFlight: 0 });
});
