import { describe, expect, test } from 'bun:test';
import { IdentityError } from '../../../src/identity/error.ts';
import { createThrottle } from '../../../src/identity/sign-in/throttle.ts';
import { attempts } from '../../../src/store/sign-in-tables.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../../support/database.ts';

const directory = temporaryDirectory();

const MINUTE_MS = 60_000;

async function open() {
  const database = await newDatabase(directory);
  let now = 1_800_000_000_000;
  const throttle = createThrottle({ database, clock: () => now });
  const enter = (name: string, address: string) =>
    throttle.enter({ realm: 'customer', kind: 'password', name, address });
  return {
    throttle,
    database,
    enter,
    /** Seconds to wait where it is refused; 0 where it is let in (and then has failed). */
    fail: (name: string, address = '203.0.113.7') => waitOf(() => enter(name, address)),
    advance(ms: number) {
      now += ms;
    },
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function waitOf(work: () => Promise<unknown>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (error instanceof IdentityError && error.code === 'too_many_attempts') {
      return error.retryAfterSeconds ?? Number.NaN;
    }
    throw error;
  }
}

/** One after the other. */
async function times<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (let index = 0; index < count; index += 1) done.push(await work(index));
  return done;
}

const letIn = (count: number): number[] => Array(count).fill(0);

describeOnEachDatabase('the throttle of sign-in', () => {
  describe('one name from one network', () => {
    test('is free ten times, then waits 15 seconds, then twice as long each time, to 15 minutes', async () => {
      const { fail, advance } = await open();
      expect(await times(10, () => fail('a@b.example'))).toEqual(letIn(10));
      const waits = await times(8, async () => {
        const wait = await fail('a@b.example');
        advance(wait * 1_000);
        await fail('a@b.example');
        return wait;
      });
      expect(waits).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
    });

    test('is not delayed further by what is refused', async () => {
      const { fail, advance } = await open();
      await times(10, () => fail('a@b.example'));
      advance(5_000);
      expect(await times(50, () => fail('a@b.example'))).toEqual(Array(50).fill(10));
    });

    test('counts what is tried at once before any of it is answered', async () => {
      const { enter, fail } = await open();
      const tries = Array.from({ length: 10 }, () => enter('a@b.example', '203.0.113.7'));
      const [first] = await Promise.all(tries);
      expect(await fail('a@b.example')).toBe(15);
      await first?.succeeded();
      expect(await fail('a@b.example')).toBe(0);
    });

    test('forgets within a quarter of an hour', async () => {
      const { fail, advance, throttle, database } = await open();
      await times(9, () => fail('a@b.example'));
      advance(15 * MINUTE_MS);
      expect(await times(9, () => fail('a@b.example'))).toEqual(letIn(9));
      advance(15 * MINUTE_MS + 1);
      await throttle.sweep();
      expect(await database.db.select().from(attempts).all()).toEqual([]);
    });

    test('is not charged for what was never looked at', async () => {
      const { enter, fail } = await open();
      await times(40, async () => (await enter('a@b.example', '203.0.113.7')).dropped());
      await times(40, async () => {
        const entry = await enter('a@b.example', '203.0.113.7');
        const check = Promise.reject(new Error('the line is full'));
        await expect(entry.checked(check)).rejects.toThrow('the line is full');
      });
      expect(await fail('a@b.example')).toBe(0);
    });

    test('is of an owner where they have signed in before', async () => {
      const { enter } = await open();
      const first = await enter('a@b.example', '203.0.113.7');
      expect(first.isKnown).toBe(false);
      await first.succeeded();
      expect((await enter('a@b.example', '203.0.113.7')).isKnown).toBe(true);
      expect((await enter('a@b.example', '203.0.113.8')).isKnown).toBe(false);
    });
  });

  describe('one name from everywhere', () => {
    const stranger = (index: number) => `198.51.${Math.floor(index / 200)}.${index % 200}`;

    test('is slowed by at most a minute, however many networks fail', async () => {
      const { fail, advance } = await open();
      const waits = await times(400, async (index) => {
        const wait = await fail('a@b.example', stranger(index));
        advance(wait * 1_000);
        return wait;
      });
      expect(Math.max(...waits)).toBe(60);
    });

    test('is not slowed at all where its owner has signed in from before', async () => {
      const { enter, fail } = await open();
      await (await enter('a@b.example', '203.0.113.7')).succeeded();
      await times(400, (index) => fail('a@b.example', stranger(index)));
      expect(await fail('a@b.example', '192.0.2.1')).toBeGreaterThan(0);
      expect(await fail('a@b.example', '203.0.113.7')).toBe(0);
    });

    test('is distinguished from the same name elsewhere', async () => {
      const { throttle, fail } = await open();
      await times(400, (index) => fail('a@b.example', stranger(index)));
      const other = { realm: 'operator', kind: 'password', name: 'a@b.example' } as const;
      expect(await waitOf(() => throttle.enter({ ...other, address: '192.0.2.1' }))).toBe(0);
      expect(await fail('c@b.example', '192.0.2.1')).toBe(0);
    });
  });

  describe('right passwords of one name', () => {
    const right = async (enter: Opened['enter'], name: string, address = '203.0.113.7') =>
      waitOf(async () => (await enter(name, address)).succeeded());

    test('are thirty an hour, from all networks together', async () => {
      const { enter, advance } = await open();
      const address = (index: number) => `198.51.100.${index}`;
      const name = 'a@b.example';
      expect(await times(30, (index) => right(enter, name, address(index)))).toEqual(letIn(30));
      expect(await right(enter, name, address(1))).toBe(3_600);
      expect(await right(enter, name, '192.0.2.1')).toBe(3_600);
      expect(await right(enter, 'c@b.example')).toBe(0);
      advance(60 * MINUTE_MS);
      expect(await right(enter, name)).toBe(0);
    });

    test('that are checked at once are thirty, too', async () => {
      const { enter } = await open();
      await times(25, () => right(enter, 'a@b.example'));
      const entries = await times(8, () => enter('a@b.example', '203.0.113.7'));
      const waits = await times(8, (index) => waitOf(async () => entries[index]?.succeeded()));
      expect(waits).toEqual([...letIn(5), 3_600, 3_600, 3_600]);
    });

    test('count again after a mailed link has proven the owner', async () => {
      const { enter, throttle } = await open();
      const name = 'a@b.example';
      await times(30, () => right(enter, name));
      await throttle.know({ realm: 'customer', name, address: '203.0.113.7' });
      expect(await right(enter, name)).toBe(0);
    });

    test('are not counted with wrong ones', async () => {
      const { enter, fail } = await open();
      await times(9, () => fail('a@b.example', '192.0.2.1'));
      expect(await times(30, () => right(enter, 'a@b.example'))).toEqual(letIn(30));
    });
  });

  describe('one network', () => {
    test('is free sixty times, for any names', async () => {
      const { fail } = await open();
      expect(await times(60, (index) => fail(`${index}@b.example`))).toEqual(letIn(60));
      expect(await fail('new@b.example')).toBe(15);
      expect(await fail('new@b.example', '203.0.113.8')).toBe(0);
    });

    test('is a whole /64 of IPv6', async () => {
      const { fail } = await open();
      await times(60, (index) => fail(`${index}@b.example`, `2001:db8:1:2::${index.toString(16)}`));
      expect(await fail('new@b.example', '2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(15);
      expect(await fail('new@b.example', '2001:db8:1:3::1')).toBe(0);
    });

    test('may ask for mails sixty times in a quarter of an hour', async () => {
      const { throttle, advance } = await open();
      const ask = () => waitOf(() => throttle.limitNetwork('customer', '203.0.113.7'));
      expect(await times(60, ask)).toEqual(letIn(60));
      expect(await ask()).toBe(15);
      advance(31 * MINUTE_MS);
      expect(await ask()).toBe(0);
    });
  });

  test('ten mails an hour go to one address, five of them for one network', async () => {
    const { throttle, advance } = await open();
    const mails = async (from: string) => {
      const answers = await times(7, () => throttle.mayMail('customer', 'a@b.example', from));
      return answers.filter(Boolean).length;
    };
    expect(await mails('203.0.113.7')).toBe(5);
    expect(await mails('203.0.113.8')).toBe(5);
    expect(await mails('203.0.113.9')).toBe(0);
    expect(await throttle.mayMail('customer', 'c@b.example', '203.0.113.7')).toBe(true);
    expect(await throttle.mayMail('operator', 'a@b.example', '203.0.113.7')).toBe(true);
    // Strangers use up nothing of a network where the owner has been.
    const owner = { realm: 'customer', name: 'a@b.example', address: '203.0.113.10' } as const;
    await throttle.know(owner);
    await throttle.know({ ...owner, address: '203.0.113.11' });
    await throttle.know({ ...owner, address: '203.0.113.12' });
    expect(await mails('203.0.113.10')).toBe(5);
    expect(await mails('203.0.113.11')).toBe(5);
    expect(await mails('203.0.113.12')).toBe(0);
    expect(await mails('203.0.113.13')).toBe(0);
    advance(60 * MINUTE_MS);
    expect(await mails('203.0.113.7')).toBe(5);
  });

  test('the table leaks no names or addresses', async () => {
    const { enter, throttle, database } = await open();
    await (await enter('a@b.example', '203.0.113.7')).succeeded();
    await throttle.mayMail('customer', 'a@b.example', '203.0.113.7');
    const rows = JSON.stringify(await database.db.select().from(attempts).all());
    expect(rows).not.toMatch(/a@b|203\.0/);
  });

  test('customers who fail on one network keep no operator out of it', async () => {
    const { fail, throttle } = await open();
    for (let count = 0; count < 100; count += 1) await fail(`${count}@example.com`);
    expect(await fail('another@example.com')).toBeGreaterThan(0);
    const operator = {
      realm: 'operator',
      kind: 'password',
      name: 'o',
      address: '203.0.113.7',
    } as const;
    expect(await waitOf(() => throttle.enter(operator))).toBe(0);
  });

  test('what strangers ask for never waits for the disk', async () => {
    const { database } = await open();
    const transaction = () => {
      throw new Error('this waits for the disk');
    };
    const throttle = createThrottle({ database: { ...database, transaction }, clock: () => 1 });
    const attempt = { realm: 'customer', kind: 'password', name: 'a', address: '::1' } as const;
    await (await throttle.enter(attempt)).succeeded();
    await (await throttle.enter(attempt)).dropped();
    await throttle.limitNetwork('customer', '::1');
    expect(await throttle.mayMail('customer', 'a@example.com', '::1')).toBe(true);
  });

  test('a refused attempt opens no transaction', async () => {
    const { database } = await open();
    let opened = 0;
    function quickly<T>(work: Parameters<typeof database.quickly<T>>[0]): Promise<T> {
      opened += 1;
      return database.quickly(work);
    }
    const throttle = createThrottle({ database: { ...database, quickly }, clock: () => 1 });
    const attempt = { realm: 'customer', kind: 'password', name: 'a', address: '::1' } as const;
    const works = [
      () => waitOf(() => throttle.enter(attempt)),
      () => waitOf(() => throttle.limitNetwork('customer', '::1')),
      async () => ((await throttle.mayMail('customer', 'a@example.com', '::1')) ? 0 : 1),
    ];
    for (const work of works) {
      await times(60, work);
      opened = 0;
      expect(Math.min(...(await times(5, work)))).toBeGreaterThan(0);
      expect(opened).toBe(0);
    }
  });
});
