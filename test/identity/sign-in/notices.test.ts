// Mails about a change that the signed-in user has made.

import { expect, test } from 'bun:test';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { codeOf } from '../../support/one-time-code.ts';
import { EMAIL, openCustomer, PASSWORD } from './rig.ts';

const directory = temporaryDirectory();

const HERE = '203.0.113.7';
const ELSEWHERE = '198.51.100.7';

async function open() {
  const rig = await openCustomer(directory);
  const { browser, customer, me } = rig;

  const changes = {
    async 'Your password was changed'(from: string) {
      const given = { current: PASSWORD, password: PASSWORD };
      browser.take(await customer.changePassword(await me(), given, browser.visit(from)));
    },
    async 'Two-factor authentication was turned off'(from: string) {
      // A code is good for one half minute.
      rig.advance(30_000);
      const { secret } = await customer.startTwoFactor(await me());
      const code = codeOf(secret, rig.clock());
      browser.take((await customer.confirmTwoFactor(await me(), code, browser.visit())).cookies);
      browser.take(await customer.disableTwoFactor(await me(), browser.visit(from)));
    },
    async 'Your account will be deleted'(from: string) {
      await customer.askDeletion(await me(), browser.visit(from));
      await customer.takeDeletionBack(await me(), browser.visit(from));
    },
  };

  /** How many mails seven changes cause, one after the other. */
  async function mailsOf(subject: keyof typeof changes, from = HERE): Promise<number> {
    const before = rig.mails.length;
    for (let count = 0; count < 7; count += 1) {
      await changes[subject](from);
      await rig.signIn.settled();
    }
    const mails = rig.mails.slice(before);
    expect(new Set(mails.map((mail) => mail.subject))).toEqual(new Set([subject]));
    return mails.length;
  }

  return { ...rig, mailsOf };
}

describeOnEachDatabase('notices of changes', () => {
  test('are five an hour of each kind, so that repeats hide no other change', async () => {
    const { mailsOf, advance } = await open();
    expect(await mailsOf('Your password was changed')).toBe(5);
    expect(await mailsOf('Two-factor authentication was turned off')).toBe(5);
    expect(await mailsOf('Your account will be deleted')).toBe(5);
    advance(3_600_000);
    expect(await mailsOf('Your password was changed')).toBe(5);
  });

  test('of another network are not hidden by those of the owner', async () => {
    const { mailsOf } = await open();
    expect(await mailsOf('Your password was changed')).toBe(5);
    expect(await mailsOf('Your password was changed', ELSEWHERE)).toBe(5);
  });

  test('are not used up by requests for links, which strangers make', async () => {
    const { mailsOf, customer, browser, signIn, mails } = await open();
    const forget = () => customer.forgotPassword(EMAIL, browser.visit());
    for (let count = 0; count < 8; count += 1) await forget();
    await signIn.settled();
    expect(await mailsOf('Your password was changed')).toBe(5);
    expect(mails.filter(({ subject }) => subject === 'Choose a new password')).toHaveLength(4);
  });
});
