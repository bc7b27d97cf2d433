// The simulated Redis decides as the script on a real one does, call for call; otherwise the
// simulation would test something else than the product.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readRedisUrl } from '../../../src/core/redis-url.ts';
import {
  createDecide,
  type Decide,
  type Pair,
  type ScriptCall,
  type ScriptDecision,
  type ScriptReply,
} from '../../../src/limits/leased/script.ts';
import { createRedis, type Redis } from '../../../src/store/redis/client.ts';
import { describeWithServices, type RedisServer, startRedis } from '../../support/services.ts';
import { createServer } from './server.ts';

const START = Date.UTC(2026, 10, 21);
const PREFIX = 'test:';

/** What happens next in the life of an account. */
const step = fc.record({
  holder: fc.constantFrom('a', 'b', 'c'),
  laterMs: fc.constantFrom(0, 1, 700, 20_000, 31_000, 60_000),
  holders: fc.integer({ min: 1, max: 4 }),
  need: fc.constantFrom(0, 1, 1, 3),
  wish: fc.constantFrom(0, 0, 5, 50),
  given: fc.constantFrom(0, 0, 1, 2),
  limit: fc.constantFrom(-1, 3, 10, 100),
  seeded: fc.boolean(),
  booked: fc.boolean(),
  counts: fc.boolean(),
  returns: fc.constantFrom(false, false, false, true),
  again: fc.constantFrom(0, 0, 0, 1, 2),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The call of a holder whose last answer was `last`. */
function callOf(
  given: Step,
  seq: number,
  now: number,
  last: ScriptDecision | undefined,
): ScriptCall {
  const { need, wish, limit, given: back } = given;
  const [window, , slots, period] = last?.counters ?? [];
  const pair = (count: number, tokens = count * 10): Pair => [count, tokens];
  const used = ([count, tokens]: Pair = [0, 0]): Pair => [
    Math.max(0, count - back),
    Math.max(0, tokens - back),
  ];
  const plain = {
    ...{ from: 0, used: pair(0), reserved: 0, age: 0, latest: 0, take: pair(need) },
    ...{ wish: pair(0), limit: pair(-1, -1), mark: -1, before: -1, counts: false },
  };
  const booked = given.booked ? { mark: 7, before: 5 } : {};
  const usedOfPeriod = used(period?.given);
  return {
    ...{ seq, holder: given.holder, holders: given.holders, epoch: last?.epoch ?? '', now },
    ...(given.returns ? { returns: true } : {}),
    ...(given.seeded ? { seed: [{ name: 'plan', age: 30_000, count: 2, tokens: 20 }] } : {}),
    counters: [
      {
        ...{ ...plain, name: 'plan', kind: 'window', from: window?.from ?? 0, age: 100 },
        ...{ latest: back * 300, used: used(window?.given), wish: pair(wish), limit: pair(limit) },
      },
      { ...plain, name: 'model:m', kind: 'window' },
      {
        ...{ ...plain, name: 'slots', kind: 'slots', used: used(slots?.given) },
        ...{ wish: [wish, 0], limit: [limit, -1] },
      },
      {
        ...{ ...plain, name: '2026-11-21', kind: 'period', from: fromOf(given, period?.from) },
        ...{ used: usedOfPeriod, reserved: Math.floor(usedOfPeriod[1] / 2), wish: [0, wish] },
        ...{ limit: [-1, limit * 10], ...booked, counts: given.counts },
      },
    ],
  };
}

/** Now and then a holder knows no mark, or an older one. */
function fromOf({ given, wish, booked }: Step, known = booked ? 7 : -1): number {
  if (given === 2 && wish === 5) return -1;
  return given === 1 && wish === 50 ? 3 : known;
}

describeWithServices('the simulated Redis', ['Redis'], () => {
  let server: RedisServer;
  let redis: Redis;
  let decide: Decide;
  let run = '';

  beforeAll(async () => {
    server = await startRedis();
    const read = readRedisUrl(server.url);
    if ('problem' in read) throw new Error(read.problem);
    redis = createRedis({ target: read.value, onChange: () => undefined });
    await redis.waitUntilUp(5_000);
    decide = createDecide(redis, PREFIX);
    run = /run_id:([0-9a-f]+)/.exec(await server.ask('INFO server'))?.[1] ?? '';
  });

  afterAll(async () => {
    redis.close();
    await server.stop();
  });

  let accounts = 0;
  const seen = { missing: 0, fits: 0, refused: 0, repeated: 0, late: 0 };

  test('decides as the script does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        accounts += 1;
        await play(`acct_${accounts}`, steps);
      }),
      { numRuns: 40 },
    );
    // Every way that a decision can go was gone.
    expect(Object.values(seen).filter((count) => count < 10)).toEqual([]);
  });

  async function play(accountId: string, steps: readonly Step[]): Promise<void> {
    const model = createServer(() => 0, run);
    const answers = new Map<string, ScriptDecision>();
    const calls = new Map<string, ScriptCall[]>();
    let now = START;
    let seq = 0;
    for (const given of steps) {
      now += given.laterMs;
      seq += 1;
      const made = calls.get(given.holder) ?? [];
      const before = given.again > 0 ? made.at(-given.again) : undefined;
      const call = before ?? callOf(given, seq, now, answers.get(given.holder));
      const names = ['counters', '2026-11-21'];
      const keys = names.map((name) => `${PREFIX}{${accountId}}:${name}`);
      const expected = model.decide(keys, call);
      const reply = await decide(accountId, call);
      expect(reply).toEqual(expected as ScriptReply);
      if (before !== undefined) seen.repeated += 1;
      else calls.set(given.holder, [...made, call]);
      if ('missing' in reply) seen.missing += 1;
      else if ('late' in reply) seen.late += 1;
      else {
        seen[reply.fits ? 'fits' : 'refused'] += 1;
        answers.set(given.holder, reply);
      }
    }
  }
});
