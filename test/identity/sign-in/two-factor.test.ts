import { expect, test } from 'bun:test';
import { secondFactors, sessions } from '../../../src/store/sign-in-tables.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { codeOf } from '../../support/one-time-code.ts';
import { createBrowser, EMAIL, openCustomer, PASSWORD, refused } from './rig.ts';

const directory = temporaryDirectory();

const CREDENTIALS = { email: EMAIL, password: PASSWORD };

async function open() {
  const rig = await openCustomer(directory);
  /** A browser whose password was right. */
  async function halfway(address?: string) {
    const next = createBrowser(address);
    const { status, cookies } = await rig.customer.signIn(CREDENTIALS, next.visit());
    expect(status).toBe('second_factor_required');
    next.take(cookies);
    return next;
  }
  return { ...rig, halfway };
}

/** With the second factor on; the code of this half minute is used up by that. */
async function turnedOn() {
  const rig = await open();
  const { customer, browser, me, clock } = rig;
  const { secret } = await customer.startTwoFactor(await me());
  const { codes, cookies } = await customer.confirmTwoFactor(
    await me(),
    codeOf(secret, clock()),
    browser.visit(),
  );
  browser.take(cookies);
  return { ...rig, secret, codes };
}

describeOnEachDatabase('turning it on', () => {
  test('shows a secret that apps understand, and is off until one code was right', async () => {
    const { customer, me, browser, clock } = await open();
    const { uri, secret } = await customer.startTwoFactor(await me());
    expect(secret).toMatch(/^[A-Z2-7]{52}$/);
    expect(uri).toBe(
      `otpauth://totp/Tollgate:a%40example.com?secret=${secret}&issuer=Tollgate&algorithm=SHA1&digits=6&period=30`,
    );
    const wrong = String((Number(codeOf(secret, clock())) + 1) % 1_000_000).padStart(6, '0');
    await expect(customer.confirmTwoFactor(await me(), wrong, browser.visit())).rejects.toEqual(
      refused('invalid_code'),
    );
    const outcome = await customer.signIn(CREDENTIALS, createBrowser().visit());
    expect(outcome.status).toBe('signed_in');
  });

  test('gives ten recovery codes and a new session, and ends the others', async () => {
    const rig = await open();
    const { customer, me, browser, clock } = rig;
    const elsewhere = createBrowser();
    elsewhere.take((await customer.signIn(CREDENTIALS, elsewhere.visit())).cookies);
    const old = browser.visit();
    const { secret } = await customer.startTwoFactor(await me());
    const { codes, cookies } = await customer.confirmTwoFactor(
      await me(),
      codeOf(secret, clock()),
      old,
    );
    browser.take(cookies);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[a-z2-9]{5}-[a-z2-9]{5}$/);
    expect(await me()).toMatchObject({ twoFactor: true });
    expect(await customer.recoveryCodesLeft(await me())).toBe(10);
    expect(await customer.read(old.headers)).toBeUndefined();
    expect(await customer.read(elsewhere.visit().headers)).toBeUndefined();
    expect(await customer.sessions(await me())).toHaveLength(1);
    expect(await rig.trail()).toContain('user.two_factor_enabled');
  });

  test('keeps secret and codes sealed', async () => {
    const { database, secret, codes } = await turnedOn();
    const text = JSON.stringify(await database.db.select().from(secondFactors).all());
    const plain = Buffer.from(
      (
        [...secret]
          .map((each) =>
            'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(each).toString(2).padStart(5, '0'),
          )
          .join('')
          .match(/.{8}/g) ?? []
      ).map((byte) => Number.parseInt(byte, 2)),
    ).toString();
    for (const hidden of [secret, plain, ...codes]) expect(text).not.toContain(hidden);
  });

  test('is done once', async () => {
    const { customer, me } = await turnedOn();
    await expect(customer.startTwoFactor(await me())).rejects.toEqual(refused('two_factor_on'));
  });
});

describeOnEachDatabase('signing in with it', () => {
  test('makes no session before the code is right', async () => {
    const { halfway, customer, database, secret, clock } = await turnedOn();
    const rows = async () => (await database.db.select().from(sessions).all()).length;
    expect(await rows()).toBe(1);
    const next = await halfway();
    expect(await rows()).toBe(1);
    expect([...next.cookies.keys()]).toEqual(['__Host-tollgate-challenge']);
    expect(await customer.read(next.visit().headers)).toBeUndefined();
    const { status, cookies } = await customer.secondFactor(
      codeOf(secret, clock() + 30_000),
      next.visit(),
    );
    next.take(cookies);
    expect(status).toBe('signed_in');
    expect([...next.cookies.keys()]).toEqual(['__Host-tollgate']);
    expect(await customer.read(next.visit().headers)).toMatchObject({ twoFactor: true });
  });

  test('takes each code once, in all browsers', async () => {
    const { halfway, customer, secret, clock } = await turnedOn();
    const [first, second] = [await halfway(), await halfway()];
    const code = codeOf(secret, clock() + 30_000);
    const results = await Promise.allSettled([
      customer.secondFactor(code, first.visit()),
      customer.secondFactor(code, second.visit()),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const loser = results[0].status === 'rejected' ? first : second;
    await expect(customer.secondFactor(codeOf(secret, clock()), loser.visit())).rejects.toEqual(
      refused('invalid_code'),
    );
  });

  test('takes a recovery code in place of one, in any case and once', async () => {
    const { halfway, customer, me, codes } = await turnedOn();
    const [code = ''] = codes;
    const next = await halfway();
    const typed = ` ${code.toUpperCase()} `;
    expect((await customer.secondFactor(typed, next.visit())).status).toBe('signed_in');
    expect(await customer.recoveryCodesLeft(await me())).toBe(9);
    const again = await halfway();
    await expect(customer.secondFactor(code, again.visit())).rejects.toEqual(
      refused('invalid_code'),
    );
  });

  test('takes a recovery code once, and five codes of one sign-in, when they come together', async () => {
    const { halfway, customer, codes } = await turnedOn();
    const [code = ''] = codes;
    const attempt = (next: ReturnType<typeof createBrowser>, given: string) =>
      customer.secondFactor(given, next.visit()).then(
        ({ status }) => status,
        (error) => error.code,
      );
    const [first, second] = [await halfway(), await halfway()];
    const both = await Promise.all([attempt(first, code), attempt(second, code)]);
    expect(both.sort()).toEqual(['invalid_code', 'signed_in']);
    const next = await halfway();
    const many = await Promise.all(Array.from({ length: 8 }, () => attempt(next, '000000')));
    expect(many.sort()).toEqual([
      ...Array(5).fill('invalid_code'),
      ...Array(3).fill('sign_in_again'),
    ]);
  });

  test('starts over after five wrong codes, and waits after ten', async () => {
    const { halfway, customer, trail } = await turnedOn();
    const attempt = async (next: ReturnType<typeof createBrowser>) =>
      customer.secondFactor('000000', next.visit()).catch((error) => error.code);
    const next = await halfway();
    const six = [];
    for (let count = 0; count < 6; count += 1) six.push(await attempt(next));
    expect(six).toEqual([...Array(5).fill('invalid_code'), 'sign_in_again']);
    const other = await halfway();
    const more = [];
    for (let count = 0; count < 5; count += 1) more.push(await attempt(other));
    expect(more).toEqual([...Array(4).fill('invalid_code'), 'too_many_attempts']);
    expect((await trail()).filter((action) => action === 'user.second_factor_failed')).toHaveLength(
      9,
    );
  });

  test('needs the first step, and not too long ago or with an old password', async () => {
    const { halfway, customer, secret, me, browser, clock, advance } = await turnedOn();
    const code = codeOf(secret, clock() + 30_000);
    await expect(customer.secondFactor(code, createBrowser().visit())).rejects.toEqual(
      refused('sign_in_again'),
    );
    const forged = createBrowser();
    forged.cookies.set('__Host-tollgate-challenge', '2fa-AAAAAAAAAAAAAAAAAAAA.x');
    await expect(customer.secondFactor(code, forged.visit())).rejects.toEqual(
      refused('sign_in_again'),
    );
    forged.cookies.set('__Host-tollgate-challenge', 'A'.repeat(43));
    await expect(customer.secondFactor(code, forged.visit())).rejects.toEqual(
      refused('sign_in_again'),
    );
    const late = await halfway();
    advance(10 * 60_000);
    await expect(customer.secondFactor(codeOf(secret, clock()), late.visit())).rejects.toEqual(
      refused('sign_in_again'),
    );
    const next = await halfway();
    const given = { current: PASSWORD, password: 'another long password' };
    browser.take(await customer.changePassword(await me(), given, browser.visit()));
    await expect(customer.secondFactor(codeOf(secret, clock()), next.visit())).rejects.toEqual(
      refused('sign_in_again'),
    );
  });

  test('is not left out by a new password', async () => {
    const { customer, mailedToken } = await turnedOn();
    const visit = createBrowser().visit();
    await customer.forgotPassword(EMAIL, visit);
    const token = await mailedToken(EMAIL);
    await customer.resetPassword({ token, password: 'another long password' }, visit);
    const outcome = await customer.signIn(
      { email: EMAIL, password: 'another long password' },
      visit,
    );
    expect(outcome.status).toBe('second_factor_required');
  });
});

describeOnEachDatabase('turning it off, and new codes', () => {
  test('off: a password is enough, the owner gets a mail, and the session has a new id', async () => {
    const { customer, me, browser, mails, signIn, trail } = await turnedOn();
    const old = browser.visit();
    browser.take(await customer.disableTwoFactor(await me(), old));
    expect(await customer.read(old.headers)).toBeUndefined();
    expect(await me()).toMatchObject({ twoFactor: false });
    expect(await customer.recoveryCodesLeft(await me())).toBeUndefined();
    expect((await customer.signIn(CREDENTIALS, createBrowser().visit())).status).toBe('signed_in');
    await signIn.settled();
    expect(mails.at(-1)?.subject).toBe('Two-factor authentication was turned off');
    expect(await trail()).toContain('user.two_factor_disabled');
    const again = async () => customer.disableTwoFactor(await me(), browser.visit());
    await expect(again()).rejects.toEqual(refused('two_factor_off'));
  });

  test('new recovery codes make the old ones worthless', async () => {
    const { customer, me, halfway, browser, codes } = await turnedOn();
    const renewed = await customer.renewRecoveryCodes(await me(), browser.visit());
    const next = await halfway();
    await expect(customer.secondFactor(codes[0] ?? '', next.visit())).rejects.toEqual(
      refused('invalid_code'),
    );
    expect((await customer.secondFactor(renewed[0] ?? '', next.visit())).status).toBe('signed_in');
  });
});
