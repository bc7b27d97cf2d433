import { describe, expect, test } from 'bun:test';
import { createPeople } from '../../../src/identity/sign-in/people.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { createBrowser, createRig, PASSWORD, refused } from './rig.ts';

const directory = temporaryDirectory();

const EMAIL = 'op@example.com';
const visit = createBrowser().visit();

/** An operator with a password, and their browser. */
async function open() {
  const rig = await createRig(directory);
  const { operator, operators } = rig.signIn;
  const { token } = await operators.invite(EMAIL, 'admin', 'operator');
  await operator.resetPassword({ token, password: PASSWORD }, visit);
  const browser = createBrowser();
  browser.take((await operator.signIn({ email: EMAIL, password: PASSWORD }, visit)).cookies);
  return { ...rig, operator, operators, browser };
}

describeOnEachDatabase('operators', () => {
  describe('an operator', () => {
    test('has no account until one is created, and is signed in by the password of a link', async () => {
      const rig = await createRig(directory);
      const { operators, operator } = rig.signIn;
      expect(await operators.exist()).toBe(false);
      const { token } = await operators.invite(EMAIL, 'admin', 'operator');
      expect(await operators.exist()).toBe(true);
      expect(await operators.list()).toEqual([]);
      const outcome = await operator.resetPassword({ token, password: PASSWORD }, visit);
      expect(outcome?.cookies[0]).toStartWith('__Host-tollgate-operator=');
      await expect(operator.resetPassword({ token, password: PASSWORD }, visit)).rejects.toEqual(
        refused('invalid_token'),
      );
      expect(await operators.list()).toMatchObject([{ email: EMAIL, accountId: null }]);
      expect(await rig.trail()).toEqual(['operator.invited', 'user.created', 'user.signed_in']);
    });

    test('whose link is half an hour old is none', async () => {
      const { signIn, advance } = await createRig(directory);
      await signIn.operators.invite(EMAIL, 'admin', 'operator');
      advance(30 * 60_000);
      expect(await signIn.operators.exist()).toBe(false);
    });

    test('is made with a password where one is given, once', async () => {
      const rig = await createRig(directory);
      const people = createPeople(rig);
      await people.operators.create(EMAIL, 'admin', PASSWORD, 'operator');
      expect(
        (await rig.signIn.operator.signIn({ email: EMAIL, password: PASSWORD }, visit)).status,
      ).toBe('signed_in');
      await expect(people.operators.create(EMAIL, 'admin', PASSWORD, 'operator')).rejects.toEqual(
        refused('operator_exists'),
      );
      await expect(people.operators.invite(EMAIL, 'admin', 'operator')).rejects.toThrow(
        'There is an operator',
      );
      await expect(
        people.operators.create('b@example.com', 'admin', 'short', 'operator'),
      ).rejects.toEqual(refused('invalid_password'));
    });

    test('signs in to the console alone, and a customer to the dashboard alone', async () => {
      const { signIn, operator, browser, ...rig } = await open();
      const given = { email: EMAIL, password: PASSWORD };
      await expect(signIn.customer.signIn(given, visit)).rejects.toEqual(
        refused('invalid_credentials'),
      );
      await rig.customer('c@example.com');
      await expect(
        operator.signIn({ email: 'c@example.com', password: PASSWORD }, visit),
      ).rejects.toEqual(refused('invalid_credentials'));
      expect(await signIn.customer.read(browser.visit().headers)).toBeUndefined();
    });

    test('and a customer may have the same address, with passwords of their own', async () => {
      const { signIn, operator, ...rig } = await open();
      await rig.customer(EMAIL);
      await signIn.customer.forgotPassword(EMAIL, visit);
      const token = await rig.mailedToken(EMAIL);
      await signIn.customer.resetPassword({ token, password: 'another long password' }, visit);
      expect((await operator.signIn({ email: EMAIL, password: PASSWORD }, visit)).status).toBe(
        'signed_in',
      );
    });

    test('has a role that changes at once, while the session goes on', async () => {
      const rig = await open();
      const { operator, operators, browser } = rig;
      const roleNow = async () => (await operator.read(browser.visit().headers))?.role;
      expect(await roleNow()).toBe('admin');
      const { token } = await operators.invite('b@example.com', 'finance', 'operator');
      await operator.resetPassword({ token, password: PASSWORD }, visit);
      expect((await operators.list()).map(({ role }) => role)).toEqual(['admin', 'finance']);
      await operators.changeRole('b@example.com', 'admin', 'operator');
      await operators.changeRole(EMAIL, 'viewer', 'operator');
      expect(await roleNow()).toBe('viewer');
      expect((await rig.trail()).filter((action) => action === 'operator.role_changed')).toEqual([
        'operator.role_changed',
        'operator.role_changed',
      ]);
    });

    test('is an admin if they are the first, and the last admin stays one', async () => {
      const { signIn } = await createRig(directory);
      const { operators } = signIn;
      const wrong = refused('invalid_role');
      await expect(operators.invite(EMAIL, 'viewer', 'operator')).rejects.toEqual(wrong);
      const given = [EMAIL, 'support', PASSWORD, 'operator'] as const;
      await expect(operators.create(...given)).rejects.toEqual(wrong);
      await operators.create(EMAIL, 'admin', PASSWORD, 'operator');
      await operators.create('b@example.com', 'support', PASSWORD, 'operator');
      for (const attempt of [
        () => operators.changeRole(EMAIL, 'support', 'operator'),
        () => operators.remove(EMAIL, 'operator'),
      ]) {
        await expect(attempt()).rejects.toEqual(refused('last_admin'));
      }
      await operators.changeRole('b@example.com', 'admin', 'operator');
      // Two admins who demote each other at the same time: one of them stays.
      const outcomes = await Promise.allSettled([
        operators.changeRole(EMAIL, 'viewer', 'operator'),
        operators.changeRole('b@example.com', 'viewer', 'operator'),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect((await operators.list()).map(({ role }) => role).toSorted()).toEqual([
        'admin',
        'viewer',
      ]);
    });

    test('is let in no more at once when they are removed', async () => {
      const { operator, operators, browser } = await open();
      await operators.create('b@example.com', 'admin', PASSWORD, 'operator');
      expect(await operator.read(browser.visit().headers)).toMatchObject({ email: EMAIL });
      expect(await operators.remove(EMAIL, 'operator')).toBe(EMAIL);
      expect(await operator.read(browser.visit().headers)).toBeUndefined();
      await expect(operator.signIn({ email: EMAIL, password: PASSWORD }, visit)).rejects.toEqual(
        refused('invalid_credentials'),
      );
      await expect(operators.remove(EMAIL, 'operator')).rejects.toThrow('There is no operator');
    });

    test('who has only a link is removed as well', async () => {
      const { signIn } = await createRig(directory);
      const { token } = await signIn.operators.invite(EMAIL, 'admin', 'operator');
      await signIn.operators.remove(EMAIL, 'operator');
      await expect(
        signIn.operator.resetPassword({ token, password: PASSWORD }, visit),
      ).rejects.toEqual(refused('invalid_token'));
    });

    test('who is reset has neither password, second factor nor session, and gets a link', async () => {
      const { operator, operators, browser } = await open();
      const { token } = await operators.reset(EMAIL, 'operator');
      expect(await operator.read(browser.visit().headers)).toBeUndefined();
      await expect(operator.signIn({ email: EMAIL, password: PASSWORD }, visit)).rejects.toEqual(
        refused('invalid_credentials'),
      );
      await operator.resetPassword({ token, password: 'another long password' }, visit);
      const given = { email: EMAIL, password: 'another long password' };
      expect((await operator.signIn(given, visit)).status).toBe('signed_in');
    });

    test('who has forgotten the password gets a link to the console', async () => {
      const { operator, mailedToken, mails } = await open();
      await operator.forgotPassword(EMAIL, visit);
      const token = await mailedToken(EMAIL);
      expect(mails.at(-1)?.link).toBe(`https://console.example/operator/reset?token=${token}`);
    });
  });

  test('the command line gives an account a user', async () => {
    const rig = await createRig(directory);
    const people = createPeople(rig);
    const facts = { email: 'demo@tollgate.example', plan: 'pro', emailVerified: true };
    const account = await rig.accounts.create(facts, 'operator');
    expect(await people.ofAccount(account.id)).toBeUndefined();
    await people.addCustomer(account, PASSWORD, 'operator');
    expect(await people.ofAccount(account.id)).toMatchObject({ email: account.email });
    const given = { email: account.email, password: PASSWORD };
    expect((await rig.signIn.customer.signIn(given, visit)).status).toBe('signed_in');
  });
});
