// The simulated Redis decides as the script on a real one does, call for call; otherwise the
// simulation would test something else than the product.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readRedisUrl } from '../../../src/core/redis-url.ts';
import {
  createDecide,
  type Decide,
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
  again: fc.constantFrom(false, false, false, true),
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
  const keep = (had: number | undefined): number => Math.max(0, (had ?? 0) - back);
  const [start = 0, , , , count = 0, tokens = 0] = last?.windows[0] ?? [];
  const pair = (value: number): readonly [number, number] => [value, value * 10];
  return {
    ...{ seq, holder: given.holder, holders: given.holders, epoch: last?.epoch ?? '', now },
    ...(given.seeded ? { seed: [{ name: 'plan', age: 30_000, count: 2, tokens: 20 }] } : {}),
    windows: [
      {
        ...{
          name: 'plan',
          start,
          age: 100,
          latest: back * 300,
          keep: [keep(count), keep(tokens)],
        },
        ...{ need: pair(need), wish: pair(wish), limit: pair(limit) },
      },
      {
        ...{ name: 'model:m', start: 0, age: 0, latest: 0, keep: [0, 0] },
        ...{ need: pair(need), wish: pair(0), limit: pair(-1) },
      },
    ],
    slots: [{ name: 'plan', keep: keep(last?.slots[0]?.[1]), need, wish, limit }],
    periods: [
      {
        ...{ name: '2026-11-21', known: last?.periods[0]?.[0] ?? (given.booked ? 7 : -1) },
        ...{ mark: given.booked ? 7 : -1, before: given.booked ? 5 : -1, counts: given.counts },
        ...{ keep: keep(last?.periods[0]?.[3]), need: need * 10, wish, limit: limit * 10 },
        reserved: Math.floor(keep(last?.periods[0]?.[3]) / 2),
      },
    ],
  };
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
  const seen = { missing: 0, fits: 0, refused: 0, repeated: 0 };

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
    const calls = new Map<string, ScriptCall>();
    let now = START;
    let seq = 0;
    for (const given of steps) {
      now += given.laterMs;
      seq += 1;
      const before = given.again ? calls.get(given.holder) : undefined;
      const call = before ?? callOf(given, seq, now, answers.get(given.holder));
      const names = ['limits', ...call.periods.map(({ name }) => name)];
      const keys = names.map((name) => `${PREFIX}{${accountId}}:${name}`);
      const expected = model.decide(keys, call);
      const reply = await decide(accountId, call);
      expect(reply).toEqual(expected as ScriptReply);
      calls.set(given.holder, call);
      if (before !== undefined) seen.repeated += 1;
      if ('missing' in reply) seen.missing += 1;
      else if (reply.fits) seen.fits += 1;
      else seen.refused += 1;
      if (!('missing' in reply)) answers.set(given.holder, reply);
    }
  }
});
