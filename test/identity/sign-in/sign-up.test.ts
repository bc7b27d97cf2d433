import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { users } from '../../../src/store/sign-in-tables.ts';
import { describeOnEachDatabase, sqliteTest, temporaryDirectory } from '../../support/database.ts';
import { createBrowser, createRig, EMAIL, PASSWORD, type Rig, refused } from './rig.ts';

const directory = temporaryDirectory();

const OTHER_PASSWORD = 'the password of a stranger';
const visit = createBrowser().visit();

async function signUp(rig: Rig, email: string, password: string, invite?: string): Promise<string> {
  await rig.signIn.customer.signUp({ email, password, invite }, visit);
  return rig.mailedToken(email);
}

const verify = (rig: Rig, token: string, password: string) =>
  rig.signIn.customer.verifyEmail({ token, password }, visit);

const usersOf = (rig: Rig) => rig.database.db.select().from(users).all();

describeOnEachDatabase('a stranger', () => {
  test('becomes a customer by the mailed link and the password, signed in at once', async () => {
    const rig = await createRig(directory);
    const token = await signUp(rig, EMAIL, PASSWORD);
    expect([await usersOf(rig), await rig.accounts.list()]).toEqual([[], []]);
    const browser = createBrowser();
    const outcome = await rig.signIn.customer.verifyEmail(
      { token, password: PASSWORD },
      browser.visit(),
    );
    browser.take(outcome.cookies);
    const who = await rig.signIn.customer.read(browser.visit().headers);
    const account = await rig.accounts.find(EMAIL);
    expect(account).toMatchObject({
      id: who?.accountId,
      plan: 'pay-as-you-go',
      standing: 'active',
      emailVerified: true,
    });
    expect(await rig.trail()).toEqual(['account.created', 'user.created', 'user.signed_in']);
  });

  test('gets a mail with one link to a page, in plain words', async () => {
    const rig = await createRig(directory);
    const token = await signUp(rig, EMAIL, PASSWORD);
    expect(rig.mails).toHaveLength(1);
    expect(rig.mails[0]).toMatchObject({
      to: EMAIL,
      subject: 'Confirm your e-mail address',
      link: `https://gateway.example/dashboard/verify?token=${token}`,
    });
    expect(rig.mails[0]?.text.match(/https?:\S+/g)).toEqual([rig.mails[0]?.link ?? '']);
  });

  test('has one address, however it is written', async () => {
    const rig = await createRig(directory);
    await verify(rig, await signUp(rig, EMAIL, PASSWORD), PASSWORD);
    await rig.signIn.customer.signUp({ email: ' A@EXAMPLE.com ', password: PASSWORD }, visit);
    await rig.signIn.settled();
    expect(rig.mails.map(({ subject }) => subject)).toEqual([
      'Confirm your e-mail address',
      'You already have an account',
    ]);
  });

  test.each([
    'a',
    'a@b',
    'a@exämple.com',
    'a b@example.com',
    'a@example.com\r\nBcc: b@example.com',
  ])('is refused with an address that is none: %#', async (email) => {
    const rig = await createRig(directory);
    const given = { email, password: PASSWORD };
    await expect(rig.signIn.customer.signUp(given, visit)).rejects.toEqual(
      refused('invalid_email'),
    );
    await expect(rig.signIn.customer.signIn(given, visit)).rejects.toEqual(
      refused('invalid_email'),
    );
  });
});

describeOnEachDatabase('a taken address', () => {
  test('is answered as a free one is, and its owner gets a mail that changes nothing', async () => {
    const rig = await createRig(directory);
    await verify(rig, await signUp(rig, EMAIL, PASSWORD), PASSWORD);
    const answer = await rig.signIn.customer.signUp(
      { email: EMAIL, password: OTHER_PASSWORD },
      visit,
    );
    const free = await rig.signIn.customer.signUp(
      { email: 'b@example.com', password: PASSWORD },
      visit,
    );
    expect(answer).toEqual(free);
    await rig.signIn.settled();
    const mail = rig.mails.filter(({ to }) => to === EMAIL).at(-1);
    expect(mail?.subject).toBe('You already have an account');
    expect(mail?.text).not.toContain('token');
    // With a link, as for a free address: a full queue treats both the same.
    expect(mail?.link).toBe('https://gateway.example/dashboard/sign-in');
    await expect(
      rig.signIn.customer.signIn({ email: EMAIL, password: OTHER_PASSWORD }, visit),
    ).rejects.toEqual(refused('invalid_credentials'));
  });
});

describeOnEachDatabase('an address that another user signed up with first', () => {
  test('is not theirs when its owner follows the link: that takes their password', async () => {
    const rig = await createRig(directory);
    const theirs = await signUp(rig, EMAIL, OTHER_PASSWORD);
    await expect(verify(rig, theirs, PASSWORD)).rejects.toEqual(refused('invalid_credentials'));
    expect(await usersOf(rig)).toEqual([]);
  });

  test('leaves nothing of theirs when its owner signs up as well', async () => {
    const rig = await createRig(directory);
    const theirs = await signUp(rig, EMAIL, OTHER_PASSWORD);
    const own = await signUp(rig, EMAIL, PASSWORD);
    await verify(rig, own, PASSWORD);
    await expect(verify(rig, theirs, OTHER_PASSWORD)).rejects.toEqual(refused('invalid_token'));
    const given = { email: EMAIL, password: OTHER_PASSWORD };
    await expect(rig.signIn.customer.signIn(given, visit)).rejects.toEqual(
      refused('invalid_credentials'),
    );
    expect(await usersOf(rig)).toHaveLength(1);
  });

  test('opens nothing before it is verified', async () => {
    const rig = await createRig(directory);
    await signUp(rig, EMAIL, OTHER_PASSWORD);
    const given = { email: EMAIL, password: OTHER_PASSWORD };
    await expect(rig.signIn.customer.signIn(given, visit)).rejects.toEqual(
      refused('invalid_credentials'),
    );
  });
});

describeOnEachDatabase('a mailed token', () => {
  test('is taken once, also by two at the same time', async () => {
    const rig = await createRig(directory);
    const token = await signUp(rig, EMAIL, PASSWORD);
    const results = await Promise.allSettled([
      verify(rig, token, PASSWORD),
      verify(rig, token, PASSWORD),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(verify(rig, token, PASSWORD)).rejects.toEqual(refused('invalid_token'));
    expect(await rig.accounts.list()).toHaveLength(1);
  });

  test('is worth nothing after half an hour, and to another purpose or realm', async () => {
    const rig = await createRig(directory);
    const token = await signUp(rig, EMAIL, PASSWORD);
    const reset = { token, password: PASSWORD };
    await expect(rig.signIn.customer.resetPassword(reset, visit)).rejects.toEqual(
      refused('invalid_token'),
    );
    await expect(rig.signIn.operator.resetPassword(reset, visit)).rejects.toEqual(
      refused('invalid_token'),
    );
    rig.advance(30 * 60_000);
    await expect(verify(rig, token, PASSWORD)).rejects.toEqual(refused('invalid_token'));
  });

  test.each(['', 'x', 'x'.repeat(43), "' OR 1=1 --"])(
    'is nothing that was made up: %#',
    async (text) => {
      const rig = await createRig(directory);
      await expect(verify(rig, text, PASSWORD)).rejects.toEqual(refused('invalid_token'));
    },
  );

  sqliteTest('it looks into a file')(
    'is nowhere in the database, and neither is a password',
    async () => {
      const rig = await createRig(directory);
      const token = await signUp(rig, EMAIL, PASSWORD);
      rig.database.connection.run('PRAGMA wal_checkpoint(TRUNCATE)');
      const files = readdirSync(directory).map((file) => readFileSync(join(directory, file)));
      expect(files.some((bytes) => bytes.includes(EMAIL))).toBe(true);
      expect(files.some((bytes) => bytes.includes(token) || bytes.includes(PASSWORD))).toBe(false);
    },
  );
});

describeOnEachDatabase('an account that the operator has made', () => {
  const make = (rig: Rig) =>
    rig.accounts.create({ email: EMAIL, plan: 'pro', emailVerified: false }, 'operator');

  test('goes to who verifies its address', async () => {
    const rig = await createRig(directory);
    const { id } = await make(rig);
    await verify(rig, await signUp(rig, EMAIL, PASSWORD), PASSWORD);
    expect(await rig.accounts.list()).toEqual([
      expect.objectContaining({ id, plan: 'pro', emailVerified: true }),
    ]);
    expect(await usersOf(rig)).toEqual([expect.objectContaining({ accountId: id })]);
  });

  test('gets its first password by "forgot password", where sign-up is closed too', async () => {
    const rig = await createRig(directory, 'closed');
    const { id } = await make(rig);
    await rig.signIn.customer.forgotPassword(EMAIL, visit);
    const token = await rig.mailedToken(EMAIL);
    await rig.signIn.customer.resetPassword({ token, password: PASSWORD }, visit);
    const outcome = await rig.signIn.customer.signIn({ email: EMAIL, password: PASSWORD }, visit);
    expect(outcome.status).toBe('signed_in');
    expect(await usersOf(rig)).toEqual([expect.objectContaining({ accountId: id })]);
    expect((await rig.accounts.get(id)).emailVerified).toBe(true);
  });
});

describeOnEachDatabase('sign-up', () => {
  const given = { email: EMAIL, password: PASSWORD };

  test('that is closed rejects every sign-up', async () => {
    const rig = await createRig(directory, 'closed');
    const { token: invite } = await rig.signIn.invites.create({}, 'operator');
    await expect(rig.signIn.customer.signUp(given, visit)).rejects.toEqual(
      refused('sign_up_closed'),
    );
    await expect(rig.signIn.customer.signUp({ ...given, invite }, visit)).rejects.toEqual(
      refused('sign_up_closed'),
    );
  });

  test('by invitation takes one that is open, once', async () => {
    const rig = await createRig(directory, 'invite');
    await expect(rig.signIn.customer.signUp(given, visit)).rejects.toEqual(
      refused('sign_up_closed'),
    );
    const { token: invite, invite: row } = await rig.signIn.invites.create({}, 'operator');
    const first = await signUp(rig, EMAIL, PASSWORD, invite);
    const second = await signUp(rig, 'b@example.com', PASSWORD, invite);
    await verify(rig, first, PASSWORD);
    await expect(verify(rig, second, PASSWORD)).rejects.toEqual(refused('invalid_invite'));
    expect(await usersOf(rig)).toHaveLength(1);
    expect(await rig.signIn.invites.list()).toEqual([
      expect.objectContaining({ id: row.id, usedBy: (await usersOf(rig))[0]?.id }),
    ]);
  });

  test('refuses an invitation that is over, revoked, made up, or of another address', async () => {
    const rig = await createRig(directory, 'invite');
    const { invites, customer } = rig.signIn;
    const expiresAt = rig.clock() + 1_000;
    const over = (await invites.create({ expiresAt }, 'operator')).token;
    const named = (await invites.create({ email: 'b@example.com' }, 'operator')).token;
    const revoked = await invites.create({}, 'operator');
    await invites.revoke(revoked.invite.id, 'operator');
    rig.advance(1_000);
    for (const invite of [over, named, revoked.token, 'x'.repeat(43), '']) {
      await expect(customer.signUp({ ...given, invite }, visit)).rejects.toEqual(
        refused('invalid_invite'),
      );
    }
    await customer.signUp({ email: 'b@example.com', password: PASSWORD, invite: named }, visit);
  });
});
