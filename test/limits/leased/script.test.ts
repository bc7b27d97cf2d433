// The deciding script, called by hand: a repeated call takes once, a late call takes nothing back,
// and a refusal takes from no counter.

import { beforeAll, describe, expect, test } from 'bun:test';
import type {
  Decide,
  Pair,
  ScriptCall,
  ScriptDecision,
} from '../../../src/limits/leased/script.ts';
import { createDecide } from '../../../src/limits/leased/script.ts';
import { describeWithServices } from '../../support/services.ts';
import { useRedis } from './cluster.ts';

const NOW = 1_700_000_000_000;

type Asked = {
  readonly seq: number;
  readonly holder?: string;
  readonly keep?: number;
  readonly need?: number;
  readonly wish?: number;
  readonly epoch?: string;
  readonly start?: number;
  readonly slots?: number;
  readonly cap?: number;
  readonly now?: number;
  readonly holders?: number;
};

/** Every request has ten tokens; there may be ten requests, and as many slots as are asked. */
function callOf(asked: Asked): ScriptCall {
  const { seq, holder = 'a', keep = 0, need = 0, wish = 0, epoch = '', start = 0 } = asked;
  const pair = (count: number): Pair => [count, count * 10];
  const plain = {
    ...{ from: 0, used: pair(keep), reserved: 0, age: 0, latest: 0, take: pair(need) },
    ...{ wish: pair(wish), mark: -1, before: -1, counts: false },
  };
  return {
    ...{ seq, holder, epoch, holders: asked.holders ?? 1, now: asked.now ?? NOW, seed: [] },
    counters: [
      { ...plain, name: 'plan', kind: 'window', from: start, limit: pair(10) },
      { ...plain, name: 'slots', kind: 'slots', limit: [asked.slots ?? -1, -1] },
      {
        ...{ ...plain, name: '2026-11-21', kind: 'period', from: 7, limit: [-1, asked.cap ?? -1] },
        ...{ mark: 7, before: 0, counts: true },
      },
    ],
  };
}

describeWithServices('the script of the limits', ['Redis'], () => {
  const used = useRedis();
  let decide: Decide;
  let accounts = 0;

  beforeAll(() => {
    decide = createDecide(used().redis, 'tollgate:');
  });

  /** An account of its own, asked with the last answer. */
  function openAccount() {
    accounts += 1;
    const account = `acct_${accounts}`;
    return async (asked: Asked): Promise<ScriptDecision> => {
      const reply = await decide(account, callOf(asked));
      if (!('fits' in reply)) throw new Error('nothing was decided');
      return reply;
    };
  }

  /** What a reply says that the holder has, of all three; and what others have. */
  const mine = ({ counters }: ScriptDecision) => pairsOf(counters.map(({ given }) => given));
  const others = ({ counters }: ScriptDecision) => pairsOf(counters.map((each) => each.others));
  const pairsOf = ([window, slots, period]: readonly Pair[]) => [
    ...(window ?? []),
    slots?.[0],
    period?.[1],
  ];

  test('gives what is needed, and half of what is left beyond it', async () => {
    const ask = openAccount();
    const first = await ask({ seq: 1, need: 1, wish: 99, slots: 5, cap: 1_000 });
    expect([first.fits, ...mine(first)]).toEqual([true, 1 + 4, 10 + 45, 1 + 2, 10 + 495]);
    expect(first.counters[0]).toMatchObject({ from: NOW, leftMs: 60_000, others: [0, 0] });
  });

  test('takes once, however often a call arrives', async () => {
    const ask = openAccount();
    const call = { seq: 1, need: 2, wish: 2 };
    const first = await ask(call);
    for (let again = 0; again < 3; again += 1) expect(mine(await ask(call))).toEqual(mine(first));
    expect(others(await ask({ seq: 1, holder: 'b' }))).toEqual([4, 40, 4, 40]);
  });

  test('takes nothing back for a call that comes after a newer one', async () => {
    const ask = openAccount();
    const { epoch } = await ask({ seq: 1, need: 1 });
    const granted = { epoch, start: NOW };
    await ask({ seq: 3, keep: 1, need: 4, ...granted });
    await expect(ask({ seq: 2, keep: 1, ...granted })).rejects.toThrow('nothing was decided');
    expect(others(await ask({ seq: 1, holder: 'b' }))[0]).toBe(5);
  });

  test('says when slots are scarce, and how many of them others may not use', async () => {
    const ask = openAccount();
    const permitsOf = async (asked: Asked) => {
      const { counters, isScarce } = await ask({ ...asked, slots: 8, holders: 3 });
      const { others, given, spare } = counters[1] ?? {};
      return [others?.[0], given?.[0], isScarce ? 0 : 1, spare?.[0]];
    };
    // The others', its own, whether it may keep what it does not use, and the others that may be
    // unused.
    expect(await permitsOf({ seq: 1, need: 5 })).toEqual([0, 5, 1, 0]);
    expect(await permitsOf({ seq: 1, holder: 'b', need: 1 })).toEqual([5, 1, 0, 5]);
    expect(await permitsOf({ seq: 2, holder: 'b', keep: 1, need: 2 })).toEqual([5, 3, 0, 5]);
    expect(await permitsOf({ seq: 3, holder: 'b', keep: 3, need: 1, now: NOW + 999 })).toEqual([
      5, 3, 0, 5,
    ]);
    // By then it has returned what it does not use, if it lives.
    expect(await permitsOf({ seq: 4, holder: 'b', keep: 3, need: 1, now: NOW + 1_000 })).toEqual([
      5, 3, 0, 0,
    ]);
    expect(await permitsOf({ seq: 2, keep: 4, now: NOW + 1_000 })).toEqual([3, 4, 0, 0]);
  });

  describe('takes nothing where one limit refuses', () => {
    test.each([
      ['requests and tokens', { need: 11 }],
      ['slots', { need: 3, slots: 2 }],
      ['tokens of a day', { need: 3, cap: 29 }],
    ])('%s', async (_, asked) => {
      const ask = openAccount();
      const refused = await ask({ seq: 1, ...asked });
      expect([refused.fits, ...mine(refused)]).toEqual([false, 0, 0, 0, 0]);
      const after = await ask({ seq: 1, holder: 'b' });
      expect([after.counters[0]?.from, ...others(after)]).toEqual([0, 0, 0, 0, 0]);
    });
  });

  test('every key has an end, and lies in the slot of its account', async () => {
    const ask = openAccount();
    await ask({ seq: 1, need: 1 });
    const account = `{acct_${accounts}}`;
    const { server } = used();
    for (const name of ['counters', '2026-11-21']) {
      const reply = await server.ask(`PTTL tollgate:${account}:${name}`);
      expect(Number(reply.trim().slice(1))).toBeGreaterThan(60_000);
    }
    expect((await server.ask(`KEYS tollgate:${account}:*`)).split('\r\n')[0]).toBe('*2');
  });
});
