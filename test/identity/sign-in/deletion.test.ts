import { expect, test } from 'bun:test';
import type { Standing } from '../../../src/core/admit.ts';
import { changeStanding } from '../../../src/operations/accounts.ts';
import { accountDeletions, invites, users } from '../../../src/store/sign-in-tables.ts';
import { accountEvents } from '../../support/audit.ts';
import { describeOnEachDatabase, everyRow, temporaryDirectory } from '../../support/database.ts';
import { createBrowser, EMAIL, openCustomer, PASSWORD } from './rig.ts';

const directory = temporaryDirectory();

const DAY_MS = 86_400_000;

async function open() {
  const rig = await openCustomer(directory);
  const { browser, customer } = rig;
  const who = await rig.me();
  const account = () => rig.accounts.get(who.accountId);
  const ask = () => customer.askDeletion(who, browser.visit());
  const takeBack = () => customer.takeDeletionBack(who, browser.visit());
  const operatorSets = (standing: Standing) =>
    changeStanding(rig, who.accountId, standing, 'operator');
  return { ...rig, who, account, ask, takeBack, operatorSets };
}

describeOnEachDatabase('a deletion', () => {
  test('that is asked for refuses the account for two weeks, and its owner still signs in', async () => {
    const rig = await open();
    const dueAt = await rig.ask();
    expect(dueAt).toBe(rig.clock() + 14 * DAY_MS);
    expect((await rig.account()).standing).toBe('pending_deletion');
    expect(await rig.customer.deletionDueAt(rig.who.accountId)).toBe(dueAt);
    expect(rig.deletions).toEqual([rig.who.accountId]);
    await rig.signIn.settled();
    expect(rig.mails.at(-1)?.subject).toBe('Your account will be deleted');
    rig.advance(14 * DAY_MS - 1);
    await rig.signIn.sweep();
    const outcome = await rig.customer.signIn(
      { email: EMAIL, password: PASSWORD },
      createBrowser().visit(),
    );
    expect(outcome.status).toBe('signed_in');
  });

  test('can be taken back', async () => {
    const rig = await open();
    const { key } = await rig.keys.create({ accountId: rig.who.accountId }, 'operator');
    await rig.ask();
    await rig.takeBack();
    expect(await rig.account()).toMatchObject({ standing: 'active', email: EMAIL });
    expect(await rig.customer.deletionDueAt(rig.who.accountId)).toBeUndefined();
    rig.advance(15 * DAY_MS);
    await rig.signIn.sweep();
    expect(await rig.account()).toMatchObject({ standing: 'active', email: EMAIL });
    expect((await rig.keys.find(key)).revokedAt).toBeNull();
    expect(await rig.trail()).toContain('account.deletion_taken_back');
    expect(rig.takeBack).toThrow('This account has no deletion to cancel');
  });

  test('that is due leaves an account without an owner, and its books', async () => {
    const rig = await open();
    const { signIn, database, who, browser } = rig;
    const { key } = await rig.keys.create({ accountId: who.accountId }, 'operator');
    await signIn.invites.create({ email: EMAIL }, 'operator');
    await rig.ask();
    await signIn.settled();
    rig.advance(14 * DAY_MS);
    await signIn.sweep();
    await signIn.sweep();
    expect((await rig.keys.find(key)).revokedReason).toBe('account_closed');
    expect(await rig.account()).toMatchObject({
      email: `deleted-${who.accountId.toLowerCase()}@deleted.invalid`,
      emailVerified: false,
      standing: 'pending_deletion',
    });
    expect(await signIn.customer.read(browser.visit().headers)).toBeUndefined();
    expect(await database.db.select().from(users).all()).toEqual([]);
    expect(await database.db.select().from(accountDeletions).all()).toEqual([]);
    expect(rig.mails.filter(({ subject }) => subject === 'Your account was deleted')).toHaveLength(
      1,
    );
    expect((await rig.trail()).filter((action) => action === 'account.closed')).toHaveLength(1);
    const everything = await everyRow(database);
    const text = JSON.stringify(everything, (_, value) => (typeof value === 'bigint' ? 0 : value));
    expect(text).not.toContain(EMAIL);
    expect(await database.db.select().from(invites).all()).toHaveLength(1);
  });

  test('revokes every key that is not revoked yet, with an event each', async () => {
    const rig = await open();
    const { accountId } = rig.who;
    const create = async (expiresAt?: number) =>
      (await rig.keys.create({ accountId, expiresAt }, 'operator')).row.id;
    const revoked = await create();
    await rig.keys.revoke(revoked, 'leak_report', 'operator');
    const others = [await create(), await create(rig.clock() + DAY_MS)];
    await rig.ask();
    rig.advance(14 * DAY_MS);
    await rig.signIn.sweep();
    const reasons = await Promise.all(
      [revoked, ...others].map(async (id) => (await rig.keys.find(id)).revokedReason),
    );
    expect(reasons).toEqual(['leak_report', 'account_closed', 'account_closed']);
    const events = await accountEvents(rig.database, accountId, 100);
    const closed = events.filter(
      ({ action, detail }) => action === 'api_key.revoked' && detail.includes('account_closed'),
    );
    expect(closed.map(({ subject }) => subject).toSorted()).toEqual(others.toSorted());
    expect(new Set(closed.map(({ actor }) => actor))).toEqual(new Set(['system']));
  });

  test('leaves the address free for another account', async () => {
    const rig = await open();
    await rig.ask();
    rig.advance(14 * DAY_MS);
    await rig.signIn.sweep();
    const again = await rig.customerOf(EMAIL);
    const who = await rig.signIn.customer.read(again.visit().headers);
    expect(who?.accountId).not.toBe(rig.who.accountId);
  });

  test('is not done where the operator has decided otherwise', async () => {
    const rig = await open();
    await rig.ask();
    await rig.accounts.changeStanding(rig.who.accountId, 'suspended', 'operator');
    rig.advance(14 * DAY_MS);
    await rig.signIn.sweep();
    expect(await rig.account()).toMatchObject({ standing: 'suspended', email: EMAIL });
  });

  test('takes no key where the operator decides otherwise in the middle of it', async () => {
    const rig = await open();
    const { key } = await rig.keys.create({ accountId: rig.who.accountId }, 'operator');
    await rig.ask();
    rig.between.deletion = async () => {
      await rig.accounts.changeStanding(rig.who.accountId, 'active', 'operator');
    };
    rig.advance(14 * DAY_MS);
    await rig.signIn.sweep();
    expect(await rig.account()).toMatchObject({ standing: 'active', email: EMAIL });
    expect((await rig.keys.find(key)).revokedAt).toBeNull();
  });

  test('that the operator has begun is not the owner to take back', async () => {
    const rig = await open();
    await rig.accounts.changeStanding(rig.who.accountId, 'pending_deletion', 'operator');
    expect(rig.takeBack).toThrow('This account has no deletion to cancel');
    expect((await rig.account()).standing).toBe('pending_deletion');
    rig.advance(15 * DAY_MS);
    await rig.signIn.sweep();
    expect((await rig.account()).email).toBe(EMAIL);
  });

  const decisions: readonly (readonly Standing[])[] = [
    ['suspended', 'pending_deletion'],
    ['pending_deletion'],
  ];
  for (const standings of decisions) {
    test(`ends where the operator sets ${standings.join(', then ')}`, async () => {
      const rig = await open();
      await rig.ask();
      for (const standing of standings) await rig.operatorSets(standing);
      expect(await rig.customer.deletionDueAt(rig.who.accountId)).toBeUndefined();
      expect(rig.takeBack).toThrow('This account has no deletion to cancel');
      rig.advance(15 * DAY_MS);
      await rig.signIn.sweep();
      expect(await rig.account()).toMatchObject({ standing: 'pending_deletion', email: EMAIL });
      const ended = (await rig.trail()).filter((it) => it === 'account.deletion_taken_back');
      expect(ended).toHaveLength(1);
    });
  }

  test('is refused where the operator has suspended or closed the account since', async () => {
    const rig = await open();
    for (const standing of ['suspended', 'pending_deletion'] as const) {
      await rig.operatorSets(standing);
      await expect(rig.ask()).rejects.toMatchObject({ code: 'account_inactive' });
      expect((await rig.account()).standing).toBe(standing);
      expect(await rig.customer.deletionDueAt(rig.who.accountId)).toBeUndefined();
    }
  });

  test('that is asked for many times at once is one, with one mail', async () => {
    const rig = await open();
    const before = rig.mails.length;
    const dueAt = await Promise.all(Array.from({ length: 8 }, rig.ask));
    expect(new Set(dueAt)).toEqual(new Set([rig.clock() + 14 * DAY_MS]));
    await rig.signIn.settled();
    expect(rig.mails).toHaveLength(before + 1);
    expect((await rig.trail()).filter((it) => it === 'account.deletion_asked')).toHaveLength(1);
  });
});
