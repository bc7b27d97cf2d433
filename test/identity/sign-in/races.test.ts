// Races: a holder of a password that is being changed gets nothing that outlives the change, and an
// invitation is accepted once, in every interleaving.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPasswords } from '../../../src/identity/sign-in/passwords.ts';
import { challenges, sessions } from '../../../src/store/sign-in-tables.ts';
import { describeOnEachDatabase } from '../../support/database.ts';
import { codeOf } from '../../support/one-time-code.ts';
import { createBrowser, createRig, EMAIL, PASSWORD, type Rig, refused } from './rig.ts';

const OTHER = 'another horse battery';

describeOnEachDatabase('races of sign-in', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tollgate-'));
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const given = (email: string, password: string) => ({ email, password });

  async function resetToken(rig: Rig): Promise<string> {
    await rig.signIn.customer.forgotPassword(EMAIL, createBrowser('198.51.100.2').visit());
    return rig.mailedToken(EMAIL);
  }

  describe('an invitation', () => {
    test('that is used up leaves no account behind, by which another address comes in', async () => {
      const rig = await createRig(directory, 'invite');
      const { customer, invites } = rig.signIn;
      const { token: invite } = await invites.create({}, 'operator');
      const visit = createBrowser().visit();
      const tokens: string[] = [];
      for (const email of [EMAIL, 'b@example.com']) {
        await customer.signUp({ ...given(email, PASSWORD), invite }, visit);
        tokens.push(await rig.mailedToken(email));
      }
      const [first = '', second = ''] = tokens;
      await customer.verifyEmail({ token: first, password: PASSWORD }, visit);
      await expect(
        customer.verifyEmail({ token: second, password: PASSWORD }, visit),
      ).rejects.toEqual(refused('invalid_invite'));
      expect((await rig.accounts.list()).map(({ email }) => email)).toEqual([EMAIL]);
      rig.mails.length = 0;
      await customer.forgotPassword('b@example.com', visit);
      await rig.signIn.settled();
      expect(rig.mails).toEqual([]);
    });

    test('lets one in of all who use it at once', async () => {
      const rig = await createRig(directory, 'invite');
      const { customer, invites } = rig.signIn;
      const { token: invite } = await invites.create({}, 'operator');
      const visit = createBrowser().visit();
      const tokens: string[] = [];
      for (let each = 0; each < 5; each += 1) {
        const email = `${each}@example.com`;
        await customer.signUp({ ...given(email, PASSWORD), invite }, visit);
        tokens.push(await rig.mailedToken(email));
      }
      const outcomes = await Promise.allSettled(
        tokens.map((token) => customer.verifyEmail({ token, password: PASSWORD }, visit)),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await rig.accounts.list()).toHaveLength(1);
    });
  });

  /** Passwords that are right wait for `let go`. */
  function slowPasswords() {
    const quick = createPasswords({ memoryCost: 8, timeCost: 1 }).customer;
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let slow = false;
    return {
      passwords: {
        hash: quick.hash,
        async verify(password: string, hash: string) {
          const isRight = await quick.verify(password, hash);
          if (!slow) return isRight;
          asked.resolve();
          await gate.promise;
          return isRight;
        },
      },
      asked: asked.promise,
      hold: () => {
        slow = true;
      },
      letGo: () => {
        slow = false;
        gate.resolve();
      },
    };
  }

  describe('a sign-in with the old password that is in progress during a reset', () => {
    test('opens nothing afterwards', async () => {
      const { passwords, asked, hold, letGo } = slowPasswords();
      const rig = await createRig(directory, 'open', passwords);
      await rig.customer(EMAIL);
      const token = await resetToken(rig);
      const { customer } = rig.signIn;
      hold();
      const entering = customer.signIn(given(EMAIL, PASSWORD), createBrowser().visit()).then(
        () => 'let in',
        (error: { readonly code: string }) => error.code,
      );
      await asked;
      await customer.resetPassword({ token, password: OTHER }, createBrowser().visit());
      letGo();
      expect(await entering).toBe('invalid_credentials');
      expect(await rig.database.db.select().from(sessions).all()).toEqual([]);
      const entered = await customer.signIn(given(EMAIL, OTHER), createBrowser().visit());
      expect(entered.status).toBe('signed_in');
    });

    test('asks for no second factor either', async () => {
      const { passwords, asked, hold, letGo } = slowPasswords();
      const rig = await createRig(directory, 'open', passwords);
      const browser = await rig.customer(EMAIL);
      const { customer } = rig.signIn;
      const who = await customer.read(browser.visit().headers);
      if (who === undefined) throw new Error('no session');
      const { secret } = await customer.startTwoFactor(who);
      await customer.confirmTwoFactor(who, codeOf(secret, rig.clock()), browser.visit());
      const token = await resetToken(rig);
      hold();
      const entering = customer.signIn(given(EMAIL, PASSWORD), createBrowser().visit()).then(
        () => 'half way',
        (error: { readonly code: string }) => error.code,
      );
      await asked;
      await customer.resetPassword({ token, password: OTHER }, createBrowser().visit());
      letGo();
      expect(await entering).toBe('invalid_credentials');
      const waiting = await rig.database.db.select().from(challenges).all();
      expect(waiting.map(({ userId }) => userId)).not.toContain(who.userId);
    });
  });

  describe('a change of the password through a stolen session', () => {
    test('does not undo a reset by the owner in between', async () => {
      const { passwords, asked, hold, letGo } = slowPasswords();
      const rig = await createRig(directory, 'open', passwords);
      const stolen = await rig.customer(EMAIL);
      const token = await resetToken(rig);
      const who = await rig.signIn.customer.read(stolen.visit().headers);
      if (who === undefined) throw new Error('no session');
      const { customer } = rig.signIn;
      hold();
      const change = { current: PASSWORD, password: 'the horse of a stranger' };
      const changing = customer.changePassword(who, change, stolen.visit()).then(
        () => 'changed',
        (error: { readonly code: string }) => error.code,
      );
      await asked;
      await customer.resetPassword({ token, password: OTHER }, createBrowser().visit());
      letGo();
      expect(await changing).toBe('invalid_credentials');
      expect(await customer.signIn(given(EMAIL, OTHER), createBrowser().visit())).toMatchObject({
        status: 'signed_in',
      });
    });
  });
});
