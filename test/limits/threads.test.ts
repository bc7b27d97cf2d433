// The limits that threads share pass the suite of the contract, with the requests spread over several
// claimants of one memory; and a memory that is full refuses instead of counting wrong.

import { expect, test } from 'bun:test';
import type { AccountLimits, LimitsDependencies } from '../../src/limits/contract.ts';
import { createLimits } from '../../src/limits/limits.ts';
import { createLimitMemory } from '../../src/limits/threads.ts';
import { describeLimits } from './contract.ts';
import { createWorld, PLAN } from './world.ts';

const THREADS = 3;
/** Of records: eight accounts with a model each. */
const CAPACITY = 16;
const ACCOUNTS = CAPACITY / 2;

/** The next of the threads answers each call, once all of them have looked after their leases. */
function openThreads(dependencies: LimitsDependencies): AccountLimits {
  const memory = createLimitMemory(THREADS, CAPACITY);
  const threads = Array.from({ length: THREADS }, (_, thread) =>
    createLimits({ ...dependencies, shared: { memory, thread } }),
  );
  let turn = 0;
  const next = () => {
    for (const each of threads) each.sweep();
    turn += 1;
    const chosen = threads[turn % THREADS];
    if (chosen === undefined) throw new Error('There is no such thread.');
    return chosen;
  };
  return {
    left: (...asked) => next().left(...asked),
    countRefused: (...asked) => next().countRefused(...asked),
    claim: (request) => next().claim(request),
    claimCount: (...asked) => next().claimCount(...asked),
    usage: (...asked) => next().usage(...asked),
    claims: () =>
      threads
        .flatMap((each) => each.claims())
        .toSorted((left, right) => left.requestId.localeCompare(right.requestId)),
  };
}

describeLimits('of three threads', openThreads);

test('where every entry is in use, a new account is refused and the others go on', async () => {
  const world = await createWorld(openThreads);
  const plan = { ...PLAN, dailyTokens: 1_000 };
  for (let account = 0; account < ACCOUNTS; account += 1) {
    (await world.claimed({ account: `acct_${account}`, plan })).settle(5);
  }
  const late = { account: 'late', plan };
  expect(await world.refusal(late)).toEqual(['concurrency_limit_exceeded', 2]);
  const { result } = await world.ask(late);
  expect(result).toMatchObject({ view: { remainingRequests: 3, remainingTokens: 10_000 } });
  expect(await world.limits().claimCount('late', plan)).toBe(2);
  expect(await world.usage('late', plan)).toMatchObject({ requestsUsed: 0, dayTokens: 0 });
  await world.claimed({ account: 'acct_0', plan });
  // A minute later the books have what was used, and one account has a request still running.
  world.wait(60_000);
  for (let account = 1; account < ACCOUNTS; account += 1) {
    (await world.claimed({ account: `later_${account}`, plan })).settle(1);
  }
  expect(await world.refusal(late)).toEqual(['concurrency_limit_exceeded', 2]);
  expect(await world.usage('acct_0', plan)).toMatchObject({ inFlight: 1, dayTokens: 25 });
  expect(await world.usage('acct_1', plan)).toMatchObject({ inFlight: 0, dayTokens: 5 });
});

test('a model for which there is no room is refused, and leaves nothing behind', async () => {
  const world = await createWorld(openThreads);
  const plan = { ...PLAN, requestsPerMinute: 99, concurrentRequests: 99 };
  for (let model = 0; model < CAPACITY - 1; model += 1) {
    await world.claimed({ plan, model: `model-${model}` });
  }
  expect(await world.refusal({ plan, model: 'late' })).toEqual(['concurrency_limit_exceeded', 2]);
  expect(await world.usage()).toMatchObject({ requestsUsed: 15, inFlight: 15, dayTokens: 300 });
  // A model that was not asked for a minute, and of which no request runs, is let go.
  const [first] = world.running;
  world.wait(60_000);
  expect(await world.refusal({ plan, model: 'late' })).toEqual(['concurrency_limit_exceeded', 2]);
  first?.settle(20);
  world.wait(60_000);
  await world.claimed({ plan, model: 'late' });
});
