import { describe, expect, test } from 'bun:test';
import { DEFAULT_SERVICE } from '../../../src/core/service.ts';
import { createSignIn } from '../../../src/identity/sign-in/sign-in.ts';
import { sessions } from '../../../src/store/sign-in-tables.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { createBrowser, EMAIL, openCustomer, PASSWORD, SECRET, writeMail } from './rig.ts';

const directory = temporaryDirectory();

const HOUR_MS = 3_600_000;

async function open() {
  const rig = await openCustomer(directory);
  const { browser, customer } = rig;
  return {
    ...rig,
    sweep: rig.signIn.sweep,
    readOperator: rig.signIn.operator.read,
    who: (at = browser) => customer.read(at.visit().headers),
    async signIn(at = createBrowser()) {
      const outcome = await customer.signIn({ email: EMAIL, password: PASSWORD }, at.visit());
      at.take(outcome.cookies);
      return at;
    },
  };
}

describeOnEachDatabase('sessions', () => {
  describe('a session', () => {
    test('is a cookie of 256 random bits that no other site gets, and a row with its keyed digest', async () => {
      const { customer, database } = await open();
      const browser = createBrowser();
      const { status, cookies } = await customer.signIn(
        { email: EMAIL, password: PASSWORD },
        browser.visit(),
      );
      expect(status).toBe('signed_in');
      expect(cookies).toHaveLength(1);
      expect(cookies[0]).toMatch(
        /^__Host-tollgate=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      const secret = /=([\w-]{43})/.exec(cookies[0] ?? '')?.[1] ?? '';
      const rows = await database.db.select().from(sessions).all();
      expect(JSON.stringify(rows)).not.toContain(secret);
      expect(rows.map((row) => row.digest)).toContain(
        new Bun.CryptoHasher('sha256', SECRET).update(`session ${secret}`).digest('hex'),
      );
    });

    test('says who it is', async () => {
      const { who, accounts, clock } = await open();
      expect(await who()).toEqual({
        realm: 'customer',
        sessionId: expect.stringMatching(/^sess_\w{24}$/),
        userId: expect.stringMatching(/^user_\w{24}$/),
        email: EMAIL,
        accountId: (await accounts.find(EMAIL)).id,
        twoFactor: false,
        provenAt: clock(),
        expiresAt: clock() + 7 * 24 * HOUR_MS,
      });
    });

    test('ends after twelve hours without a request', async () => {
      const { who, advance } = await open();
      advance(12 * HOUR_MS - 1);
      expect(await who()).toBeDefined();
      advance(12 * HOUR_MS);
      expect(await who()).toBeUndefined();
    });

    test('ends after seven days, however much it is used', async () => {
      const { who, advance } = await open();
      for (let hours = 0; hours < 7 * 24 - 6; hours += 6) {
        advance(6 * HOUR_MS);
        expect(await who()).toBeDefined();
      }
      advance(6 * HOUR_MS);
      expect(await who()).toBeUndefined();
    });

    test('is noted as seen once a minute', async () => {
      const { who, advance, database } = await open();
      const seen = async () => (await database.db.select().from(sessions).get())?.lastSeenAt ?? 0;
      const first = await seen();
      advance(59_999);
      await who();
      expect(await seen()).toBe(first);
      advance(1);
      await who();
      expect(await seen()).toBe(first + 60_000);
    });

    test('is over in its time while a page asks on its own', async () => {
      const { browser, customer, advance } = await open();
      const ask = () => customer.read(browser.visit().headers, { quiet: true });
      advance(6 * HOUR_MS);
      expect(await ask()).toBeDefined();
      advance(6 * HOUR_MS);
      expect(await ask()).toBeUndefined();
    });

    test('is forgotten once it is over', async () => {
      const rig = await open();
      const rows = async () => (await rig.database.db.select().from(sessions).all()).length;
      expect(await rows()).toBe(1);
      rig.advance(12 * HOUR_MS);
      await rig.sweep();
      expect(await rows()).toBe(0);
    });

    test.each(['', 'x', 'x'.repeat(43), `${'x'.repeat(43)}.signature`, '%', 'a=b; c'])(
      'is nothing that was made up: %#',
      async (value) => {
        const { customer } = await open();
        const headers = new Headers({ cookie: `__Host-tollgate=${value}` });
        expect(await customer.read(headers)).toBeUndefined();
      },
    );

    test('is bound to the secret: with another one, or a row written without it, it is none', async () => {
      const { browser, customer, ...rig } = await open();
      const [value = ''] = browser.cookies.values();
      const as = (cookie: string) => new Headers({ cookie: `__Host-tollgate=${cookie}` });
      expect(await customer.read(as(value))).toBeDefined();
      expect(await customer.read(as(`${value}.x`))).toBeUndefined();
      const { accounts, keys, clock, randomBytes, database } = rig;
      const restarted = createSignIn({
        ...{ accounts, keys, clock, randomBytes, database },
        ...{ mode: 'open', secret: 'another secret', mail: () => undefined, writeMail },
        service: () => DEFAULT_SERVICE,
        pages: { customer: () => '', operator: () => '' },
        onDeletion: async () => undefined,
        onTrouble: () => undefined,
      });
      expect(await restarted.customer.read(as(value))).toBeUndefined();
      const digest = new Bun.CryptoHasher('sha256').update(value).digest('hex');
      await database.db.update(sessions).set({ digest }).run();
      expect(await customer.read(as(value))).toBeUndefined();
    });

    test('of a customer opens nothing of the operator, and the other way round', async () => {
      const { browser, readOperator } = await open();
      const [value] = browser.cookies.values();
      const headers = new Headers({ cookie: `__Host-tollgate-operator=${value}` });
      expect(await readOperator(headers)).toBeUndefined();
    });
  });

  describe('a new session id', () => {
    test('comes with each sign-in, and the one before in the same browser ends', async () => {
      const { browser, signIn, customer, me } = await open();
      const old = browser.visit();
      await signIn(browser);
      expect(await customer.read(old.headers)).toBeUndefined();
      expect(await customer.sessions(await me())).toHaveLength(1);
    });

    test('is never one that was there before the sign-in', async () => {
      const { signIn, customer } = await open();
      const planted = createBrowser();
      planted.cookies.set('__Host-tollgate', `${'A'.repeat(43)}.x`);
      const before = planted.visit();
      await signIn(planted);
      expect(await customer.read(before.headers)).toBeUndefined();
      expect(await customer.read(planted.visit().headers)).toBeDefined();
    });

    test('comes with a proof of the password, and the old one opens nothing', async () => {
      const { browser, customer, me, advance, clock } = await open();
      const old = browser.visit();
      advance(HOUR_MS);
      const before = await me();
      const { provenAt, cookies } = await customer.stepUp(before, PASSWORD, old);
      browser.take(cookies);
      expect(await customer.read(old.headers)).toBeUndefined();
      expect(await me()).toEqual({ ...before, provenAt });
      expect(provenAt).toBe(clock());
    });

    test('comes with a new password, and every other session ends', async () => {
      const { browser, signIn, customer, me, trail } = await open();
      const elsewhere = await signIn();
      const old = browser.visit();
      const given = { current: PASSWORD, password: 'another long password' };
      browser.take(await customer.changePassword(await me(), given, old));
      expect(await customer.read(elsewhere.visit().headers)).toBeUndefined();
      expect(await customer.read(old.headers)).toBeUndefined();
      expect(await customer.sessions(await me())).toHaveLength(1);
      expect(await trail()).toContain('user.password_changed');
      const wrong = { email: EMAIL, password: PASSWORD };
      await expect(customer.signIn(wrong, old)).rejects.toMatchObject({
        code: 'invalid_credentials',
      });
    });
  });

  describe('sessions', () => {
    test('are listed with what they are', async () => {
      const { signIn, customer, me, clock } = await open();
      await signIn(createBrowser('2001:db8::7'));
      const rows = await customer.sessions(await me());
      expect(rows.map(({ address }) => address).sort()).toEqual(['2001:db8::7', '203.0.113.7']);
      expect(rows[0]).toMatchObject({
        userAgent: 'Browser/1.0',
        createdAt: clock(),
        lastSeenAt: clock(),
        expiresAt: clock() + 7 * 24 * HOUR_MS,
      });
    });

    test('end one by one, all others at once, and by signing out', async () => {
      const { browser, signIn, customer, me, trail } = await open();
      const [first, second, third] = [await signIn(), await signIn(), await signIn()];
      const who = await me();
      await customer.endSession(who, (await me(first)).sessionId, browser.visit());
      expect(await customer.read(first.visit().headers)).toBeUndefined();
      expect(await customer.read(second.visit().headers)).toBeDefined();
      await customer.endOtherSessions(who, browser.visit());
      expect(await customer.read(third.visit().headers)).toBeUndefined();
      expect(await customer.read(browser.visit().headers)).toBeDefined();
      const old = browser.visit();
      browser.take(await customer.signOut(old));
      expect(browser.cookies.size).toBe(0);
      expect(await customer.read(old.headers)).toBeUndefined();
      expect((await trail()).slice(-3)).toEqual([
        'user.sessions_ended',
        'user.sessions_ended',
        'user.signed_out',
      ]);
    });

    test('of a user are at most 100: a new one ends the oldest', async () => {
      const { browser, signIn, customer, me, database, clock, ...rig } = await open();
      const { userId } = await me();
      const facts = { userId, provenAt: clock(), address: '::1', userAgent: '' };
      const times = { lastSeenAt: clock(), expiresAt: clock() + HOUR_MS };
      const rows = Array.from({ length: 300 }, (_, at) => ({
        ...{ ...facts, ...times, id: `sess_${at}`, digest: `${at}`, createdAt: clock() - 1 - at },
      }));
      await database.db.insert(sessions).values(rows).run();
      expect(await customer.sessions(await me())).toHaveLength(200);
      rig.advance(1);
      const newest = await signIn();
      const left = await customer.sessions(await me(newest));
      expect(left).toHaveLength(100);
      expect(await customer.read(browser.visit().headers)).toBeDefined();
      const planted = left
        .filter(({ id }) => /^sess_\d+$/.test(id))
        .map(({ createdAt }) => createdAt);
      expect(planted).toHaveLength(98);
      expect(Math.min(...planted)).toBe(clock() - 1 - 98);
    });

    test('of another user are not listed', async () => {
      const { customer, me, ...rig } = await open();
      const other = await me(await rig.customerOf('b@example.com'));
      const visit = createBrowser().visit();
      const end = async () => customer.endSession(await me(), other.sessionId, visit);
      await expect(end()).rejects.toMatchObject({ code: 'session_not_found' });
      expect(await customer.sessions(other)).toHaveLength(1);
    });
  });

  test('thirty right passwords an hour are accepted, at sign-in and later', async () => {
    const { browser, signIn, customer, me, advance, trail } = await open();
    const refusal = { code: 'too_many_attempts', retryAfterSeconds: 3_600 };
    for (let count = 0; count < 29; count += 1) await signIn();
    const who = await me();
    browser.take((await customer.stepUp(who, PASSWORD, browser.visit())).cookies);
    const before = (await trail()).length;
    const entering = { email: EMAIL, password: PASSWORD };
    await expect(customer.signIn(entering, browser.visit())).rejects.toMatchObject(refusal);
    await expect(
      customer.signIn(entering, createBrowser('192.0.2.1').visit()),
    ).rejects.toMatchObject(refusal);
    await expect(customer.stepUp(who, PASSWORD, browser.visit())).rejects.toMatchObject(refusal);
    expect(await trail()).toHaveLength(before);
    expect(await me()).toMatchObject({ userId: who.userId });
    advance(HOUR_MS);
    await signIn();
  });

  test('a wrong password proves nothing, at sign-in and later, and counts', async () => {
    const { browser, customer, me } = await open();
    const who = await me();
    const wrong = () => customer.stepUp(who, 'not the right password', browser.visit());
    const wrongChange = () =>
      customer.changePassword(
        who,
        { current: 'not the right password', password: 'another long password' },
        browser.visit(),
      );
    for (let count = 0; count < 5; count += 1) {
      await expect(wrong()).rejects.toMatchObject({ code: 'invalid_credentials' });
      await expect(wrongChange()).rejects.toMatchObject({ code: 'invalid_credentials' });
    }
    const right = { email: EMAIL, password: PASSWORD };
    await expect(customer.signIn(right, browser.visit())).rejects.toMatchObject({
      code: 'too_many_attempts',
      retryAfterSeconds: 15,
    });
    expect(await me()).toEqual(who);
  });
});
