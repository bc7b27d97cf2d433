import { describe, expect, test } from 'bun:test';
import { signInTokens } from '../../../src/store/sign-in-tables.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { createBrowser, EMAIL, openCustomer, PASSWORD, refused } from './rig.ts';

const directory = temporaryDirectory();

const NEW_PASSWORD = 'another long password';
const visit = createBrowser('192.0.2.1').visit();

async function open() {
  const rig = await openCustomer(directory);
  return {
    ...rig,
    async forget(email = EMAIL) {
      await rig.customer.forgotPassword(email, visit);
      return rig.mailedToken(email);
    },
  };
}

describeOnEachDatabase('account recovery', () => {
  describe('a forgotten password', () => {
    test('is replaced by the mailed link, and every session ends', async () => {
      const { customer, browser, forget, mails, trail } = await open();
      const token = await forget();
      expect(mails.at(-1)).toMatchObject({
        subject: 'Choose a new password',
        link: `https://gateway.example/dashboard/reset?token=${token}`,
      });
      await customer.resetPassword({ token, password: NEW_PASSWORD }, visit);
      expect(await customer.read(browser.visit().headers)).toBeUndefined();
      await expect(customer.signIn({ email: EMAIL, password: PASSWORD }, visit)).rejects.toEqual(
        refused('invalid_credentials'),
      );
      const { status } = await customer.signIn({ email: EMAIL, password: NEW_PASSWORD }, visit);
      expect(status).toBe('signed_in');
      expect(await trail()).toContain('user.password_reset');
    });

    test('makes no difference in what a stranger sees', async () => {
      const { customer, mails, signIn } = await open();
      const before = mails.length;
      const toStranger = await customer.forgotPassword('unknown@example.com', visit);
      expect(await customer.forgotPassword(EMAIL, visit)).toBe(toStranger);
      expect(mails).toHaveLength(before);
      await signIn.settled();
      expect(mails.slice(before).map(({ to }) => to)).toEqual([EMAIL]);
    });

    test('changes nothing by itself', async () => {
      const { customer, browser, forget } = await open();
      await forget();
      expect(await customer.read(browser.visit().headers)).toBeDefined();
      const { status } = await customer.signIn({ email: EMAIL, password: PASSWORD }, visit);
      expect(status).toBe('signed_in');
    });
  });

  describe('the token', () => {
    const reset = (token: string, password = NEW_PASSWORD) => ({ token, password });

    test('is taken once, also by two at the same time, and ends the others', async () => {
      const { customer, forget } = await open();
      const other = await forget();
      const token = await forget();
      const results = await Promise.allSettled([
        customer.resetPassword(reset(token), visit),
        customer.resetPassword(reset(token, 'a third long password'), visit),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      for (const used of [token, other]) {
        await expect(customer.resetPassword(reset(used), visit)).rejects.toEqual(
          refused('invalid_token'),
        );
      }
    });

    test('is worth nothing after half an hour', async () => {
      const { customer, forget, advance } = await open();
      const token = await forget();
      advance(30 * 60_000);
      await expect(customer.resetPassword(reset(token), visit)).rejects.toEqual(
        refused('invalid_token'),
      );
    });

    test('is worth nothing after the password was changed', async () => {
      const { customer, forget, browser } = await open();
      const token = await forget();
      const who = await customer.read(browser.visit().headers);
      if (who === undefined) throw new Error('no session');
      const given = { current: PASSWORD, password: NEW_PASSWORD };
      await customer.changePassword(who, given, browser.visit());
      await expect(customer.resetPassword(reset(token), visit)).rejects.toEqual(
        refused('invalid_token'),
      );
    });

    test('outlives a password that is too short', async () => {
      const { customer, forget } = await open();
      const token = await forget();
      await expect(customer.resetPassword(reset(token, 'short'), visit)).rejects.toEqual(
        refused('invalid_password'),
      );
      await customer.resetPassword(reset(token), visit);
    });

    test('is bound to its address and realm', async () => {
      const { customer, forget, signIn, ...rig } = await open();
      await rig.customerOf('b@example.com');
      const token = await forget();
      await expect(signIn.operator.resetPassword(reset(token), visit)).rejects.toEqual(
        refused('invalid_token'),
      );
      await customer.resetPassword(reset(token), visit);
      const other = { email: 'b@example.com', password: PASSWORD };
      expect((await customer.signIn(other, visit)).status).toBe('signed_in');
    });
  });

  test('five mails an hour go to one address for one network, and a stranger cannot tell', async () => {
    const { customer, mails, signIn } = await open();
    const before = mails.length;
    for (let count = 0; count < 8; count += 1) await customer.forgotPassword(EMAIL, visit);
    await signIn.settled();
    expect(mails.slice(before).map(({ to }) => to)).toEqual(Array(5).fill(EMAIL));
  });

  test('customers who ask on one network keep no operator out of it', async () => {
    const { customer, signIn } = await open();
    const ask = (count: number) => customer.forgotPassword(`customer-${count}@example.com`, visit);
    for (let count = 0; count < 60; count += 1) await ask(count);
    await expect(ask(60)).rejects.toEqual(refused('too_many_attempts'));
    await signIn.operator.forgotPassword('o@example.com', visit);
  });

  test('an unknown address is as much work as a known one', async () => {
    const { customer, signIn, database } = await open();
    const rows = async () => (await database.db.select().from(signInTokens).all()).length;
    await customer.forgotPassword(EMAIL, visit);
    await signIn.settled();
    const known = await rows();
    await customer.forgotPassword('unknown@example.com', visit);
    await signIn.settled();
    expect([known, await rows()]).toEqual([1, 2]);
  });
});
