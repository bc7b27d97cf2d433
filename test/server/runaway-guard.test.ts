// The runaway guard over real books: which keys it pauses, and that a key is paused once.

import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Alert } from '../../src/core/alert.ts';
import { DAY_MS } from '../../src/core/calendar.ts';
import { PLAYGROUND_KEY_ID } from '../../src/core/id.ts';
import { micro } from '../../src/core/money.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { createMailWriter } from '../../src/dashboard/texts/mail-writer.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { createRunawayGuard, type RunawayGuardOptions } from '../../src/server/runaway-guard.ts';
import type { Database } from '../../src/store/contract.ts';
import { addAccount, createIdentity } from '../identity/fixtures.ts';
import { accountEvents } from '../support/audit.ts';
import {
  connectAgain,
  describeOnEachDatabase,
  newDatabase,
  temporaryDirectory,
} from '../support/database.ts';
import { waitUntil } from '../support/upstream.ts';
import { addRecords, type UsageRecord, usageRecord } from '../support/usage.ts';

setDefaultTimeout(60_000);

const HOUR_MS = 3_600_000;
const FLOOR = 1_000n;
const FACTOR = 3;

type Mail = Parameters<RunawayGuardOptions['mail']>[0];

const writeMail = createMailWriter({
  service: () => ({ ...DEFAULT_SERVICE, name: 'Gateway', supportEmail: 'help@example.org' }),
  isLogged: false,
});

describeOnEachDatabase('the runaway guard', () => {
  const directory = temporaryDirectory();

  async function world() {
    const database = await newDatabase(directory);
    const identity = createIdentity(database);
    const mails: Mail[] = [];
    const alerts: Alert[] = [];
    const marks: Promise<void>[] = [];
    const { clock, keys } = identity;
    const rollUp = createRollUp(database);

    /** `decided` is called when a guard is about to pause a key. */
    const newGuard = (
      over: Database = database,
      decided = async (): Promise<void> => {},
      mail: RunawayGuardOptions['mail'] = async () => 'sent',
    ) => {
      const own = over === database ? keys : createIdentityOver(over).keys;
      return createRunawayGuard({
        ...{ database: over, clock, monotonic: () => performance.now() },
        keys: {
          ...own,
          pauseRunaway: async (id, why) => decided().then(() => own.pauseRunaway(id, why)),
          markPauseMailed: (pause, outcome) => {
            const mark = own.markPauseMailed(pause, outcome);
            marks.push(mark);
            return mark;
          },
        },
        limits: { factor: FACTOR, floor: micro(FLOOR) },
        mail: (text) => {
          mails.push(text);
          return mail(text);
        },
        writeMail,
        pages: () => 'https://gateway.example/dashboard',
        alert: (alert) => alerts.push(alert),
        onPause: () => undefined,
        log: { error: (line) => expect(line).toBe('') },
      });
    };
    const createIdentityOver = (over: Database) => {
      const other = createIdentity(over);
      other.advance(clock() - other.clock());
      return other;
    };

    /** A request that ended `agoMs` ago. */
    const record = (key: { accountId: string; id: string }, spent: bigint, agoMs: number) =>
      usageRecord({
        ...{ accountId: key.accountId, keyId: key.id, debited: micro(spent) },
        ...{ startedAt: clock() - agoMs - 1_000, endedAt: clock() - agoMs },
      });
    async function book(...records: readonly UsageRecord[]): Promise<void> {
      await addRecords(database, records);
    }
    async function aggregate(): Promise<void> {
      while ((await rollUp.step(2_000)) > 0);
    }
    /** A key of a new account, which spent `habit` in one hour some days ago. */
    async function newKey(habit = 0n, daysAgo = 3) {
      const account = await addAccount(identity);
      const { row } = await keys.create({ accountId: account.id, name: 'batch' }, 'operator');
      if (habit > 0n) await book(record(row, habit, daysAgo * DAY_MS));
      await aggregate();
      return { ...row, email: account.email };
    }
    const reasonOf = async (id: string) => (await keys.find(id)).pausedReason;

    return {
      ...{ ...identity, database, mails, alerts, newGuard, record, book, aggregate, newKey },
      reasonOf,
      close: async () => {
        await Promise.all(marks);
        await database.close();
      },
    };
  }

  test('pauses a key far above its habit once, mails its owner, and says why', async () => {
    const { newGuard, newKey, book, record, ...at } = await world();
    const key = await newKey(500n);
    const other = await newKey(500n);
    const guard = newGuard();
    await guard.look();
    await book(record(key, 1_500n, 60_000), record(other, 1_500n, 60_000));
    await guard.look();
    expect(await at.reasonOf(key.id)).toBeNull();
    await book(record(key, 1n, 0));
    await guard.look();
    await guard.look();
    expect(await at.reasonOf(key.id)).toBe('runaway');
    expect(await at.reasonOf(other.id)).toBeNull();
    expect(at.alerts).toEqual([
      {
        ...{ kind: 'key_runaway', accountId: key.accountId, keyId: key.id },
        ...{ spent: '0.001501', allowed: '0.0015' },
      },
    ]);
    expect(at.mails).toMatchObject([
      { to: key.email, link: 'https://gateway.example/dashboard/keys' },
    ]);
    const text = at.mails[0]?.text ?? '';
    for (const part of [key.masked, '"batch"', '0.001501', '0.0005', 'help@example.org']) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain(key.digest);
    const events = await accountEvents(at.database, key.accountId, 9);
    const event = events.find(({ action }) => action === 'api_key.paused');
    expect(event).toMatchObject({ actor: 'system', subject: key.id });
    expect(JSON.parse(event?.detail ?? '')).toMatchObject({
      ...{ reason: 'runaway', spent: '0.001501', busiest_hour: '0.0005' },
    });
    await at.close();
  });

  test('pauses a key once where two leaders look at the same time, and after a restart', async () => {
    const { newGuard, newKey, book, record, ...at } = await world();
    const key = await newKey(500n);
    const second = connectAgain(at.database);
    // More than one page of rows, the burst in the oldest of them.
    await book(record(key, 9_000n, 5 * 60_000));
    await book(...Array.from({ length: 2_500 }, () => record(key, 0n, 60_000)));
    await at.aggregate();
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    const decided = (): Promise<void> => {
      waiting += 1;
      if (waiting === 2) both.resolve();
      return both.promise;
    };
    const guards = [newGuard(at.database, decided), newGuard(second, decided)];
    await Promise.all(guards.map(({ look }) => look()));
    await newGuard().look();
    expect(await at.reasonOf(key.id)).toBe('runaway');
    expect([at.mails.length, at.alerts.length]).toEqual([1, 1]);
    await second.close();
    await at.close();
  });

  describe('the mail about a pause', () => {
    const MINUTE_MS = 60_000;

    /** A key that a guard has paused, whose mail went to `mail`. */
    async function pausedWith(mail: RunawayGuardOptions['mail']) {
      const at = await world();
      const key = await at.newKey(500n);
      await at.book(at.record(key, 9_000n, 0));
      await at.aggregate();
      const guard = at.newGuard(at.database, undefined, mail);
      await guard.look();
      expect([await at.reasonOf(key.id), at.mails.length]).toEqual(['runaway', 1]);
      /** How many mails a new leader sends in two looks, and how many more alerts it raises. */
      const sentBy = async (next = at.newGuard()) => {
        const before = [at.mails.length, at.alerts.length] as const;
        await next.sendOverdue();
        await next.sendOverdue();
        return [at.mails.length - before[0], at.alerts.length - before[1]];
      };
      return { ...at, key, guard, sentBy };
    }
    /** A server that dies between the commit of the pause and the mail. */
    const died: RunawayGuardOptions['mail'] = () => new Promise(() => undefined);

    test('is sent once by the next leader where the server died before it', async () => {
      const { advance, sentBy, mails, key, ...at } = await pausedWith(died);
      // The last leader may still be retrying.
      expect(await sentBy()).toEqual([0, 0]);
      advance(5 * MINUTE_MS);
      expect(await sentBy()).toEqual([1, 1]);
      expect(mails[1]).toEqual(mails[0] as Mail);
      expect(await sentBy()).toEqual([0, 0]);
      const [event] = await accountEvents(at.database, key.accountId, 1);
      expect(event).toMatchObject({ action: 'api_key.pause_mailed', subject: key.id });
      expect(JSON.parse(event?.detail ?? '')).toEqual({ masked: key.masked, mail: 'sent' });
      await at.close();
    });

    test.each(['sent', 'logged', 'rejected'] as const)(
      'is not repeated once %s',
      async (outcome) => {
        const { advance, sentBy, ...at } = await pausedWith(async () => outcome);
        await waitUntil(async () => {
          const [event] = await accountEvents(at.database, at.key.accountId, 1);
          return event?.action === 'api_key.pause_mailed';
        });
        advance(5 * MINUTE_MS);
        expect(await sentBy()).toEqual([0, 0]);
        await at.close();
      },
    );

    test('is repeated for a day while the mail server fails, with one alert', async () => {
      const { advance, sentBy, guard, ...at } = await pausedWith(async () => 'failed');
      advance(DAY_MS - MINUTE_MS);
      expect(await sentBy(guard)).toEqual([2, 0]);
      advance(MINUTE_MS);
      expect(await sentBy(guard)).toEqual([0, 0]);
      await at.close();
    });

    test('is not owed once the owner has acted, and again after the next pause', async () => {
      const { advance, sentBy, keys, key, ...at } = await pausedWith(died);
      advance(MINUTE_MS);
      await keys.resume(key.id, 'owner', key.accountId);
      advance(2 * DAY_MS + MINUTE_MS);
      await keys.pauseRunaway(key.id, { spent: '9', allowed: '8', busiest_hour: '1' });
      advance(5 * MINUTE_MS);
      expect(await sentBy()).toEqual([1, 1]);
      expect(at.mails.at(-1)?.text).toContain('It spent 9 service tokens');
      await keys.revoke(key.id, 'user', key.accountId);
      expect(await sentBy()).toEqual([0, 0]);
      await at.close();
    });
  });

  test('leaves a key alone for two days after it was resumed; then the first is its habit', async () => {
    const { newGuard, newKey, book, record, ...at } = await world();
    const key = await newKey(500n);
    const guard = newGuard();
    await book(record(key, 5_000n, 0));
    await at.aggregate();
    await guard.look();
    expect(await at.reasonOf(key.id)).toBe('runaway');
    at.advance(60_000);
    await at.keys.resume(key.id, 'owner', key.accountId);
    for (const look of [() => guard.look(), () => newGuard().look()]) {
      await look();
      expect(await at.reasonOf(key.id)).toBeNull();
    }
    // The guard stopped the program early, so that what it usually spends comes only now.
    at.advance(HOUR_MS);
    await book(record(key, 40_000n, 0));
    at.advance(2 * DAY_MS - HOUR_MS - 60_000);
    // A replacement is of the same habit and of the same grace.
    const { created } = await at.keys.rotate(key.id, 'operator');
    await book(record(created.row, 200_000n, 0));
    await at.aggregate();
    await newGuard().look();
    expect(await at.reasonOf(created.row.id)).toBeNull();
    at.advance(60_001 + 10 * 60_000);
    await book(record(created.row, 120_000n, 0));
    await guard.look();
    expect(await at.reasonOf(created.row.id)).toBeNull();
    await book(record(created.row, 1n, 0));
    await guard.look();
    expect(await at.reasonOf(created.row.id)).toBe('runaway');
    expect(at.mails.length).toBe(2);
    await at.close();
  });

  test.each<[string, (facts: Awaited<ReturnType<typeof world>>) => Promise<string>]>([
    [
      'the first key of an account, which has no habit yet',
      async ({ newKey, book, record }) => {
        const key = await newKey();
        await book(record(key, 99_000n, 3 * HOUR_MS), record(key, 99_000n, 0));
        return key.id;
      },
    ],
    [
      'a small key, up to the floor',
      async ({ newKey, book, record }) => {
        const key = await newKey(1n);
        await book(record(key, FLOOR, 0));
        return key.id;
      },
    ],
    [
      'a key that spends as it did weeks ago',
      async ({ newKey, book, record }) => {
        const key = await newKey(10_000n, 27);
        await book(record(key, 30_000n, 0));
        return key.id;
      },
    ],
    [
      'a key that its owner exempts',
      async ({ newKey, book, record, keys }) => {
        const key = await newKey(1n);
        await keys.edit(key.id, { isGuarded: false }, 'operator');
        await book(record(key, 99_000n, 0));
        return key.id;
      },
    ],
    [
      'what was spent more than ten minutes ago',
      async ({ newKey, book, record }) => {
        const key = await newKey(1n);
        await book(record(key, 99_000n, 10 * 60_000 + 30_000));
        return key.id;
      },
    ],
    [
      'what a clock that was set back has in its future',
      async ({ newKey, book, record }) => {
        const key = await newKey(1n);
        await book(record(key, 99_000n, -HOUR_MS));
        return key.id;
      },
    ],
    [
      'what the account could not pay',
      async ({ newKey, book, record }) => {
        const key = await newKey(1n);
        await book({
          ...record(key, FLOOR, 0),
          ...{ charged: micro(99_000n), loss: micro(98_000n) },
        });
        return key.id;
      },
    ],
    [
      'the burst of another key of the account',
      async ({ newKey, book, record, keys }) => {
        const key = await newKey(1n);
        const other = { accountId: key.accountId, isGuarded: false };
        const { row } = await keys.create(other, 'operator');
        await book(record(key, FLOOR, 0), record(row, 99_000n, 0));
        return key.id;
      },
    ],
    [
      'a new key that spends as the others of its account',
      async ({ newKey, book, record, keys }) => {
        const { accountId } = await newKey(10_000n);
        const { row } = await keys.create({ accountId }, 'operator');
        await book(record(row, 30_000n, 0));
        return row.id;
      },
    ],
    [
      'a new key that takes over from others a day after a test request',
      async ({ newKey, book, record, keys }) => {
        const { accountId } = await newKey(10_000n);
        const { row } = await keys.create({ accountId }, 'operator');
        await book(record(row, 1n, DAY_MS), record(row, 30_000n, 0));
        return row.id;
      },
    ],
    [
      'the first key of an account a day after a test request',
      async ({ newKey, book, record }) => {
        const key = await newKey();
        await book(record(key, 1n, DAY_MS), record(key, 99_000n, 0));
        return key.id;
      },
    ],
    [
      'a new key of an account that has not spent for months',
      async ({ newKey, book, record, keys }) => {
        const { accountId } = await newKey(10_000n, 90);
        const { row } = await keys.create({ accountId }, 'operator');
        await book(record(row, 99_000n, 0));
        return row.id;
      },
    ],
    [
      'what is spent in the playground',
      async ({ newKey, book, record }) => {
        const key = await newKey(1n);
        const { accountId } = key;
        const playground = { accountId, id: PLAYGROUND_KEY_ID };
        await book(record(playground, 1n, 5 * DAY_MS), record(playground, 99_000n, 0));
        return key.id;
      },
    ],
  ])('does not pause for %s', async (_name, prepare) => {
    const at = await world();
    const id = await prepare(at);
    await at.aggregate();
    const guard = at.newGuard();
    await guard.look();
    await guard.look();
    expect(await at.reasonOf(id)).toBeNull();
    expect([at.mails, at.alerts]).toEqual([[], []]);
    await at.close();
  });

  test('pauses a key that was forgotten for months above the floor alone', async () => {
    const at = await world();
    const key = await at.newKey(1_000_000n, 90);
    await at.book(at.record(key, FLOOR + 1n, 0));
    await at.aggregate();
    await at.newGuard().look();
    expect(await at.reasonOf(key.id)).toBe('runaway');
    await at.close();
  });

  test('pauses a key far above its own habit two days after its first request', async () => {
    const at = await world();
    const { accountId } = await at.newKey(10_000n);
    const { row } = await at.keys.create({ accountId }, 'operator');
    await at.book(at.record(row, 1n, 2 * DAY_MS), at.record(row, 1_001n, 0));
    await at.aggregate();
    await at.newGuard().look();
    expect(await at.reasonOf(row.id)).toBe('runaway');
    await at.close();
  });

  test('pauses a new key far above the habit of its account', async () => {
    const at = await world();
    const { accountId } = await at.newKey(10_000n);
    const { row } = await at.keys.create({ accountId }, 'operator');
    await at.book(at.record(row, 30_001n, 0));
    await at.aggregate();
    await at.newGuard().look();
    expect(await at.reasonOf(row.id)).toBe('runaway');
    await at.close();
  });

  test('an owner’s pause keeps its reason, and no mail is sent', async () => {
    const at = await world();
    const key = await at.newKey(1n);
    await at.book(at.record(key, 99_000n, 0));
    await at.aggregate();
    await at.keys.pause(key.id, 'user', key.accountId);
    await at.newGuard().look();
    expect(await at.reasonOf(key.id)).toBe('user');
    expect(at.mails).toEqual([]);
    await at.close();
  });

  test('waits until the habit includes all that was booked before the start', async () => {
    const at = await world();
    const key = await at.newKey(1n);
    // Booked days ago and not aggregated, as after a crash.
    await at.book(at.record(key, 50_000n, 2 * DAY_MS), at.record(key, 99_000n, 0));
    const guard = at.newGuard();
    await guard.look();
    expect(await at.reasonOf(key.id)).toBeNull();
    await at.aggregate();
    await guard.look();
    expect(await at.reasonOf(key.id)).toBeNull();
    await at.book(at.record(key, 60_000n, 0));
    await guard.look();
    expect(await at.reasonOf(key.id)).toBe('runaway');
    await at.close();
  });
});
