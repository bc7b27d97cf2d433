// What a request passes before the limits admit it: room for its body, a look at what is left, and a
// place among the requests that are checked.

import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/core/error.ts';
import { micro } from '../../src/core/money.ts';
import type { Plan } from '../../src/core/plan.ts';
import { roomBytes } from '../../src/generate/body-room.ts';
import { ARRIVING_MORE, RequestEntrance } from '../../src/generate/entrance.ts';
import type { AccountLeft } from '../../src/limits/contract.ts';
import { BODY_BYTES_MAX } from '../../src/wire/limits.ts';
import { PLAN } from '../limits/world.ts';

const ONE_SLOT: Plan = { ...PLAN, concurrentRequests: 1 };
const MANY_SLOTS: Plan = { ...PLAN, concurrentRequests: 1_000 };
const MINIMUM = micro(1n);
const ROOM = 32 * BODY_BYTES_MAX;

const LEFT: AccountLeft = {
  ...{ limitRequests: 3, remainingRequests: 3, limitTokens: 9, remainingTokens: 9 },
  ...{ resetRequestsSeconds: 60, freeSlots: 1 },
};

/** What `left` answers, one after the other, the last one again and again. */
function openEntrance(...answers: readonly Partial<AccountLeft>[]) {
  const poor = new Set<string>();
  const remaining = [...answers];
  const counted: string[] = [];
  const entrance = new RequestEntrance({
    funds: {
      require: (accountId) =>
        poor.has(accountId) ? Promise.reject(new GatewayError('insufficient_balance')) : undefined,
    },
    limits: {
      left: () => ({ ...LEFT, ...(remaining.length > 1 ? remaining.shift() : remaining[0]) }),
      countRefused: async (accountId) => void counted.push(accountId),
    },
    bodyBytes: ROOM,
    monotonic: () => 0,
  });
  return { entrance, counted, poor };
}

/** The code of the refusal. */
function refusalOf(work: () => unknown): unknown {
  try {
    work();
    return 'taken';
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

describe('room for bodies', () => {
  test('is a quarter of the memory, and at most 512 MiB', () => {
    expect([roomBytes(2 ** 30), roomBytes(2 ** 35)]).toEqual([2 ** 28, 2 ** 29]);
  });

  test('of an account: two bodies of the largest size for each concurrent request', () => {
    const { entrance } = openEntrance();
    const take = (account: string, bytes: number) =>
      refusalOf(() => entrance.begin(account, ONE_SLOT).take(bytes));
    expect(take('a', 2 * BODY_BYTES_MAX)).toBe('taken');
    expect(take('a', 1)).toBe('concurrency_limit_exceeded');
    expect(take('b', 2 * BODY_BYTES_MAX)).toBe('taken');
  });

  test('of an account: at most a quarter of all, however many requests its plan has', () => {
    const { entrance } = openEntrance();
    const entry = entrance.begin('a', MANY_SLOTS);
    entry.take(ROOM / 4);
    expect(refusalOf(() => entry.take(1))).toBe('concurrency_limit_exceeded');
  });

  test('of large bodies is three quarters, and small ones may use the rest', () => {
    const { entrance } = openEntrance();
    const take = (account: string, bytes: number) =>
      refusalOf(() => entrance.begin(account, MANY_SLOTS).take(bytes));
    for (const account of ['a', 'b', 'c']) expect(take(account, ROOM / 4)).toBe('taken');
    expect(take('d', 65_537)).toBe('provider_unavailable');
    // A body that grows in small pieces is large in the end.
    const growing = entrance.begin('d', MANY_SLOTS);
    growing.take(65_536);
    expect(refusalOf(() => growing.take(1))).toBe('provider_unavailable');
    growing.leave();
    for (let bytes = 0; bytes < ROOM / 4; bytes += 65_536) expect(take('d', 65_536)).toBe('taken');
    expect(take('e', 1)).toBe('provider_unavailable');
  });

  test('is kept while a request waits to be checked, and given back once when it ends', async () => {
    const { entrance, counted } = openEntrance({ remainingRequests: 1 });
    const [first, second] = [entrance.begin('a', ONE_SLOT), entrance.begin('a', ONE_SLOT)];
    for (const entry of [first, second]) entry.take(BODY_BYTES_MAX);
    await first.enter();
    const entered = second.enter();
    const third = entrance.begin('a', ONE_SLOT);
    expect(refusalOf(() => third.take(1))).toBe('concurrency_limit_exceeded');
    first.leave();
    first.leave();
    await entered;
    third.take(BODY_BYTES_MAX);
    expect(refusalOf(() => third.take(1))).toBe('concurrency_limit_exceeded');
    await second.refuse(new Error('ours'));
    third.take(BODY_BYTES_MAX);
    expect(counted).toEqual(['a']);
  });
});

test('a request that has ended takes no more room', async () => {
  const { entrance } = openEntrance();
  const entry = entrance.begin('a', ONE_SLOT);
  entry.take(1);
  await entry.refuse(new Error('its body came too late'));
  expect(refusalOf(() => entry.take(1))).toBe('invalid_request');
  expect(refusalOf(() => entrance.begin('a', ONE_SLOT).take(2 * BODY_BYTES_MAX))).toBe('taken');
});

describe('an account without a free slot', () => {
  test('is refused before its body, after a second look', async () => {
    const { entrance, counted } = openEntrance({ freeSlots: 0 });
    const entry = entrance.begin('a', PLAN);
    const error = await Promise.resolve(entry.look(MINIMUM)).catch((refusal) => refusal);
    expect(error).toMatchObject({ code: 'concurrency_limit_exceeded', retryAfterSeconds: 2 });
    await entry.refuse(error);
    expect(counted).toEqual([]);
  });

  test('is not refused where the slot of a request that just ended is free by then', async () => {
    const { entrance } = openEntrance({ freeSlots: 0 }, { freeSlots: 1 });
    await entrance.begin('a', PLAN).look(MINIMUM);
  });

  test('may send what needs none', async () => {
    const { entrance } = openEntrance({ freeSlots: 0 });
    await entrance.begin('a', PLAN).look(MINIMUM, async () => false);
    const first = Promise.resolve(entrance.begin('a', PLAN).look(MINIMUM, async () => true));
    await expect(first).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
  });
});

describe('bodies on their way', () => {
  test('are slots of their account until they have arrived, with a few more for requests in parallel', async () => {
    const { entrance } = openEntrance({ freeSlots: 2 });
    const arriving = Array.from({ length: 2 + ARRIVING_MORE }, () => entrance.begin('a', PLAN));
    for (const entry of arriving) await entry.look(MINIMUM);
    const refused = { code: 'concurrency_limit_exceeded', retryAfterSeconds: 2 };
    const next = () => Promise.resolve(entrance.begin('a', PLAN).look(MINIMUM));
    await expect(next()).rejects.toMatchObject(refused);
    await entrance.begin('b', PLAN).look(MINIMUM);
    arriving[0]?.arrived();
    arriving[0]?.arrived();
    await next();
    await expect(next()).rejects.toMatchObject(refused);
    await arriving[1]?.refuse(new GatewayError('invalid_request'));
    await next();
    for (const entry of arriving) entry.leave();
    expect(entrance.arriving.get('a')).toBe(2);
  });

  test('of count_tokens take none, and are as many as the plan has slots, with a few more', async () => {
    const { entrance } = openEntrance({ freeSlots: 0 });
    const most = ONE_SLOT.concurrentRequests + ARRIVING_MORE;
    const look = () => entrance.begin('a', ONE_SLOT).lookForCount();
    for (let count = 0; count < most; count += 1) await look();
    await expect(look()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
  });
});

describe('an account without a balance', () => {
  test('is refused before its body, which uses a request of the minute', async () => {
    const { entrance, counted, poor } = openEntrance();
    poor.add('a');
    const entry = entrance.begin('a', PLAN);
    const error = await Promise.resolve(entry.look(MINIMUM)).catch((refusal) => refusal);
    expect(error).toMatchObject({ code: 'insufficient_balance', limits: LEFT });
    await entry.refuse(error);
    expect(counted).toEqual(['a']);
    expect(entrance.arriving.size).toBe(0);
    await entrance.begin('b', PLAN).look(MINIMUM);
  });

  test('is refused by its limits first', async () => {
    for (const [left, code] of [
      [{ remainingRequests: 0 }, 'rate_limit_exceeded'],
      [{ freeSlots: 0 }, 'concurrency_limit_exceeded'],
    ] as const) {
      const { entrance, poor } = openEntrance(left);
      poor.add('a');
      const looked = (async () => entrance.begin('a', PLAN).look(MINIMUM))();
      await expect(looked).rejects.toMatchObject({ code });
    }
  });

  test('gets what needs none', async () => {
    const { entrance, poor } = openEntrance();
    poor.add('a');
    await entrance.begin('a', PLAN).look(MINIMUM, async () => false);
    await entrance.begin('a', PLAN).lookForCount();
  });
});

describe('a defect of ours', () => {
  const defect = new RangeError('Maximum call stack size exceeded.');

  test('uses a request of the minute if the body has found it', async () => {
    const { entrance, counted } = openEntrance();
    const entry = entrance.begin('a', ONE_SLOT);
    await entry.enter();
    await entry.refuse(defect);
    expect(counted).toEqual(['a']);
  });

  test('uses none before the body is there: its client may have left', async () => {
    const { entrance, counted } = openEntrance();
    await entrance.begin('a', ONE_SLOT).refuse(defect);
    expect(counted).toEqual([]);
  });
});
