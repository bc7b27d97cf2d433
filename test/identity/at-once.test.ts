// Concurrent calls: a check and the write behind it are one step, in one process and, on
// PostgreSQL, over several connections. No call fails because of a deadlock.

import { afterAll, describe, expect, test } from 'bun:test';
import { createAuthenticator } from '../../src/identity/authenticate.ts';
import { createBlocks } from '../../src/identity/blocks.ts';
import { IdentityError } from '../../src/identity/error.ts';
import { createKeyActivity } from '../../src/identity/key-activity.ts';
import { createSettings } from '../../src/identity/settings.ts';
import { createThrottle } from '../../src/identity/sign-in/throttle.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { addAccount, createIdentity } from './fixtures.ts';
import { createBrowser, createRig } from './sign-in/rig.ts';

const directory = temporaryDirectory();
describeOnEachDatabase('concurrent changes', async () => {
  const database = await newDatabase(directory);
  const identity = createIdentity(database);
  const { accounts, keys } = identity;
  afterAll(() => database.close());

  /** How often each outcome came: `done`, or the code of a refusal. */
  async function outcomes(works: readonly Promise<unknown>[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const settled of await Promise.allSettled(works)) {
      if (settled.status === 'rejected' && !(settled.reason instanceof IdentityError)) {
        throw settled.reason;
      }
      const name = settled.status === 'fulfilled' ? 'done' : settled.reason.code;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  const times = (count: number, work: (index: number) => Promise<unknown>) =>
    outcomes(Array.from({ length: count }, (_, index) => work(index)));

  describe('keys of an account', () => {
    test('are as many as its plan allows', async () => {
      const { id: accountId } = await addAccount(identity, 'starter');
      const made = await times(15, () => keys.create({ accountId }, 'operator'));
      expect(made).toEqual({ done: 5, key_limit_reached: 10 });
    });

    test('are twenty in an hour, rotations among them', async () => {
      const { id: accountId } = await addAccount(identity, 'business');
      const { row } = await keys.create({ accountId }, 'operator');
      let id = row.id;
      for (let made = 1; made < 15; made += 1)
        id = (await keys.rotate(id, 'operator')).created.row.id;
      const made = await times(20, (index) =>
        index === 7 ? keys.rotate(id, 'operator') : keys.create({ accountId }, 'operator'),
      );
      expect(made).toEqual({ done: 5, key_creation_limit_reached: 15 });
    });

    test('have one successor, and one revocation', async () => {
      const { id: accountId } = await addAccount(identity);
      const { row } = await keys.create({ accountId }, 'operator');
      const rotated = await times(5, () => keys.rotate(row.id, 'operator'));
      expect(rotated).toEqual({ done: 1, key_not_active: 4 });
      expect((await keys.list(accountId)).map(({ rotatedFrom }) => rotatedFrom)).toEqual([
        row.id,
        null,
      ]);
    });
  });

  test('an e-mail address has one account', async () => {
    const facts = { email: 'once@example.com', plan: 'pro', emailVerified: true };
    const made = await times(8, () => accounts.create(facts, 'operator'));
    expect(made).toEqual({ done: 1, email_taken: 7 });
  });

  test('a network is blocked once, and let in again once', async () => {
    const blocks = createBlocks(identity);
    const add = () => blocks.add('network', '198.51.100.0/24', { reason: '' }, 'operator');
    expect(await times(5, add)).toEqual({ done: 1, already_blocked: 4 });
    const remove = () => blocks.remove('network', '198.51.100.0/24', 'operator');
    expect(await times(5, remove)).toEqual({ done: 1, block_not_found: 4 });
  });

  test('of guesses no more are looked at than one after the other', async () => {
    const throttle = createThrottle(identity);
    const attempt = { realm: 'customer', kind: 'password', name: 'x@example.com' } as const;
    const guesses = await times(30, () => throttle.enter({ ...attempt, address: '203.0.113.7' }));
    expect(guesses).toEqual({ done: 10, too_many_attempts: 20 });
    const mails = Array.from({ length: 12 }, () =>
      throttle.mayMail('customer', 'x@example.com', '203.0.113.7'),
    );
    expect((await Promise.all(mails)).filter(Boolean)).toHaveLength(5);
  });

  test('a key is looked up once for all who come with it', async () => {
    const { id: accountId } = await addAccount(identity);
    const { key, row } = await keys.create({ accountId }, 'operator');
    const authenticator = createAuthenticator(identity);
    const all = Array.from({ length: 20 }, () => authenticator.authenticate(null, key));
    const facts = await Promise.all(all);
    expect(new Set(facts).size).toBe(1);
    expect(facts[0]?.keyId).toBe(row.id);
  });

  test('a deletion that is requested and withdrawn leaves the account in one state', async () => {
    const rig = await createRig(directory);
    const browser = await rig.customer('a@example.com');
    const { customer } = rig.signIn;
    const who = await customer.read(browser.visit().headers);
    if (who === undefined) throw new Error('no session');
    const visit = createBrowser().visit();
    await customer.askDeletion(who, visit);
    const works = Array.from({ length: 8 }, (_, index) =>
      index % 2 === 0 ? customer.takeDeletionBack(who, visit) : customer.askDeletion(who, visit),
    );
    await outcomes(works);
    const isAsked = (await customer.deletionDueAt(who.accountId)) !== undefined;
    const { standing } = await rig.accounts.get(who.accountId);
    expect(standing).toBe(isAsked ? 'pending_deletion' : 'active');
    await rig.database.close();
  });

  test('no two operations wait for each other', async () => {
    const { id: accountId } = await addAccount(identity, 'business');
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) {
      ids.push((await keys.create({ accountId }, 'operator')).row.id);
    }
    const activity = createKeyActivity({
      database,
      onError(error) {
        throw error;
      },
    });
    const settings = createSettings(identity);
    const blocks = createBlocks(identity);
    const works: ((id: string, index: number) => Promise<unknown>)[] = [
      (id) => keys.rotate(id, 'operator'),
      (id) => keys.revoke(id, 'user', 'operator'),
      (id, index) => keys.edit(id, { name: `name ${index}` }, 'operator'),
      () => keys.create({ accountId }, 'operator'),
      (_, index) =>
        accounts.changePlan(accountId, index % 2 === 0 ? 'pro' : 'business', 'operator'),
      (_, index) =>
        accounts.changeStanding(accountId, index % 2 === 0 ? 'suspended' : 'active', 'operator'),
      (id) => blocks.add('key', id, { reason: '' }, 'operator'),
      (_, index) => settings.set('demo_account', `acct_${index}`, 'operator'),
      (id, index) => {
        activity.touch(id, index, { address: () => '' });
        return activity.flush();
      },
    ];
    const counts = await times(90, (index) => {
      const work = works[(index * 7) % works.length];
      return work === undefined ? Promise.resolve() : work(ids[index % ids.length] ?? '', index);
    });
    expect(counts['done']).toBeGreaterThan(0);
  });
});
