import { describe, expect, test } from 'bun:test';
import { IdentityError } from '../../../src/identity/error.ts';
import { createThrottle } from '../../../src/identity/sign-in/throttle.ts';
import { attempts } from '../../../src/store/sign-in-tables.ts';
import { newDatabase, temporaryDirectory } from '../../support/database.ts';

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

function waitOf(work: () => void): number {
  try {
    work();
    return 0;
  } catch (error) {
    if (error instanceof IdentityError && error.code === 'too_many_attempts') {
      return error.retryAfterSeconds ?? Number.NaN;
    }
    throw error;
  }
}

const times = <T>(count: number, work: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => work(index));

describe('one name from one network', () => {
  test('is free ten times, then waits 15 seconds, then twice as long each time, to 15 minutes', async () => {
    const { fail, advance } = await open();
    expect(times(10, () => fail('a@b.example'))).toEqual(times(10, () => 0));
    const waits = times(8, () => {
      const wait = fail('a@b.example');
      advance(wait * 1_000);
      fail('a@b.example');
      return wait;
    });
    expect(waits).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
  });

  test('is not delayed further by what is refused', async () => {
    const { fail, advance } = await open();
    times(10, () => fail('a@b.example'));
    advance(5_000);
    expect(times(50, () => fail('a@b.example'))).toEqual(times(50, () => 10));
  });

  test('counts what is tried at once before any of it is answered', async () => {
    const { enter, fail } = await open();
    const entries = times(10, () => enter('a@b.example', '203.0.113.7'));
    expect(fail('a@b.example')).toBe(15);
    entries[0]?.succeeded();
    expect(fail('a@b.example')).toBe(0);
  });

  test('forgets within a quarter of an hour', async () => {
    const { fail, advance, throttle, database } = await open();
    times(9, () => fail('a@b.example'));
    advance(15 * MINUTE_MS);
    expect(times(9, () => fail('a@b.example'))).toEqual(times(9, () => 0));
    advance(15 * MINUTE_MS + 1);
    await throttle.sweep();
    expect(database.db.select().from(attempts).all()).toEqual([]);
  });

  test('is not charged for what was never looked at', async () => {
    const { enter, fail } = await open();
    times(40, async () => (await enter('a@b.example', '203.0.113.7')).dropped());
    expect(fail('a@b.example')).toBe(0);
  });
});

describe('one name from everywhere', () => {
  const stranger = (index: number) => `198.51.${Math.floor(index / 200)}.${index % 200}`;

  test('is slowed by at most a minute, however many networks fail', async () => {
    const { fail, advance } = await open();
    const waits = times(400, (index) => {
      const wait = fail('a@b.example', stranger(index));
      advance(wait * 1_000);
      return wait;
    });
    expect(Math.max(...waits)).toBe(60);
  });

  test('is not slowed at all where its owner has signed in from before', async () => {
    const { enter, fail } = await open();
    await (await enter('a@b.example', '203.0.113.7')).succeeded();
    times(400, (index) => fail('a@b.example', stranger(index)));
    expect(fail('a@b.example', '192.0.2.1')).toBeGreaterThan(0);
    expect(fail('a@b.example', '203.0.113.7')).toBe(0);
  });

  test('is told apart from the same name elsewhere', async () => {
    const { throttle, fail } = await open();
    times(400, (index) => fail('a@b.example', stranger(index)));
    const other = { realm: 'operator', kind: 'password', name: 'a@b.example' } as const;
    expect(waitOf(() => throttle.enter({ ...other, address: '192.0.2.1' }))).toBe(0);
    expect(fail('c@b.example', '192.0.2.1')).toBe(0);
  });
});

describe('one network', () => {
  test('is free sixty times, whatever the names', async () => {
    const { fail } = await open();
    expect(times(60, (index) => fail(`${index}@b.example`))).toEqual(times(60, () => 0));
    expect(fail('new@b.example')).toBe(15);
    expect(fail('new@b.example', '203.0.113.8')).toBe(0);
  });

  test('is a whole /64 of IPv6', async () => {
    const { fail } = await open();
    times(60, (index) => fail(`${index}@b.example`, `2001:db8:1:2::${index.toString(16)}`));
    expect(fail('new@b.example', '2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(15);
    expect(fail('new@b.example', '2001:db8:1:3::1')).toBe(0);
  });

  test('may ask for mails sixty times in a quarter of an hour', async () => {
    const { throttle, advance } = await open();
    const ask = () => waitOf(() => throttle.limitNetwork('203.0.113.7'));
    expect(times(60, ask)).toEqual(times(60, () => 0));
    expect(ask()).toBe(15);
    advance(31 * MINUTE_MS);
    expect(ask()).toBe(0);
  });
});

test('ten mails an hour go to one address, five of them for one network', async () => {
  const { throttle, advance } = await open();
  const mails = (from: string) =>
    times(7, () => throttle.mayMail('customer', 'a@b.example', from)).filter(Boolean).length;
  expect(['203.0.113.7', '203.0.113.8', '203.0.113.9'].map(mails)).toEqual([5, 5, 0]);
  expect(throttle.mayMail('customer', 'c@b.example', '203.0.113.7')).toBe(true);
  expect(throttle.mayMail('operator', 'a@b.example', '203.0.113.7')).toBe(true);
  advance(60 * MINUTE_MS);
  expect(mails('203.0.113.7')).toBe(5);
});

test('the table tells nobody who it is about', async () => {
  const { enter, throttle, database } = await open();
  await (await enter('a@b.example', '203.0.113.7')).succeeded();
  await throttle.mayMail('customer', 'a@b.example', '203.0.113.7');
  const rows = JSON.stringify(await database.db.select().from(attempts).all());
  expect(rows).not.toMatch(/a@b|203\.0/);
});

test('customers who fail on one network keep no operator out of it', async () => {
  const { fail, throttle } = await open();
  for (let count = 0; count < 100; count += 1) fail(`${count}@example.com`);
  expect(fail('another@example.com')).toBeGreaterThan(0);
  const operator = {
    realm: 'operator',
    kind: 'password',
    name: 'o',
    address: '203.0.113.7',
  } as const;
  expect(waitOf(() => throttle.enter(operator))).toBe(0);
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
  await throttle.limitNetwork('::1');
  expect(throttle.mayMail('customer', 'a@example.com', '::1')).toBe(true);
});
