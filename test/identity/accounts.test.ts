// Accounts, blocks, switches and the last use of keys, over a real database.

import { afterAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { normaliseEmail } from '../../src/identity/accounts.ts';
import { UNKNOWN_ADDRESS } from '../../src/identity/address.ts';
import { createBlocks, readBlocklist } from '../../src/identity/blocks.ts';
import { createKeyActivity } from '../../src/identity/key-activity.ts';
import { createSettings, readMaintenance } from '../../src/identity/settings.ts';
import { auditEvents } from '../../src/store/tables.ts';
import { accountEvents } from '../support/audit.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { addAccount, createIdentity, START_MS } from './fixtures.ts';

describeOnEachDatabase('accounts', async () => {
  const database = await newDatabase(temporaryDirectory());
  const identity = createIdentity(database);
  const { accounts } = identity;
  afterAll(() => database.close());

  describe('accounts', () => {
    test('are created in good standing, found by id and by e-mail in any case', async () => {
      const facts = { email: ' Ann@Example.COM ', plan: 'pay-as-you-go', emailVerified: false };
      const account = await accounts.create(facts, 'operator');
      expect(account).toEqual({
        id: account.id,
        email: 'ann@example.com',
        plan: 'pay-as-you-go',
        planSince: START_MS,
        standing: 'active',
        emailVerified: false,
        createdAt: START_MS,
      });
      expect(account.id).toMatch(/^acct_[A-Za-z0-9]{24}$/);
      expect(await accounts.find(account.id)).toEqual(account);
      expect(await accounts.find('ANN@example.com')).toEqual(account);
      await expect(accounts.create(facts, 'operator')).rejects.toThrow(
        `An account with this e-mail address exists already: ${account.id}.`,
      );
      expect(await accounts.list()).toEqual([account]);
    });

    test('refuse an unknown plan by naming the plans, and anything that is no e-mail', async () => {
      const before = await accounts.list();
      const facts = { email: 'bob@example.com', plan: 'gold', emailVerified: true };
      await expect(accounts.create(facts, 'operator')).rejects.toThrow(
        'There is no plan with this slug. The plans are pay-as-you-go, starter, pro, power, business.',
      );
      for (const email of ['', 'bob', '@example.com', 'bob@', 'bob@host', 'b b@example.com']) {
        expect(() => normaliseEmail(email)).toThrow('The e-mail address is not valid.');
      }
      expect(() => normaliseEmail(`${'b'.repeat(250)}@a.de`)).toThrow('at most 254 characters');
      await expect(accounts.find('unknown@example.com')).rejects.toThrow(
        'no account with this e-mail',
      );
      await expect(accounts.find('acct_nobody')).rejects.toThrow('no account with this id');
      expect(await accounts.list()).toEqual(before);
    });

    test('change with one audit event each, and without one when nothing changes', async () => {
      const account = await addAccount(identity, 'pro');
      identity.advance(1_000);
      const changed = await accounts.changePlan(account.id, 'power', 'operator');
      expect(changed).toEqual({ ...account, plan: 'power', planSince: account.planSince + 1_000 });
      identity.advance(1_000);
      expect(await accounts.changePlan(account.id, 'power', 'operator')).toEqual(changed);
      await accounts.changeStanding(account.id, 'suspended', 'operator');
      await accounts.verifyEmail(account.id, 'operator');
      expect(await accounts.get(account.id)).toEqual({ ...changed, standing: 'suspended' });
      const events = (await accountEvents(database, account.id, 10)).map((event) => event.action);
      expect(events).toEqual([
        'account.standing_changed',
        'account.plan_changed',
        'account.created',
      ]);
    });
  });

  test('a blocklist is of its moment, and a later one has the changes', async () => {
    const blocks = createBlocks({ ...identity, randomBytes });
    const now = () => readBlocklist(database, identity.clock());
    const before = await now();
    await blocks.add('account', 'acct_a', { reason: 'abuse' }, 'operator');
    await blocks.add('key', 'key_a', { reason: '' }, 'operator');
    await blocks.add('network', '203.0.113.9/24', { reason: 'scan' }, 'operator');
    const answers = ({ blocklist }: Awaited<ReturnType<typeof now>>) => [
      blocklist.accountBlocked('acct_a'),
      blocklist.keyBlocked('key_a'),
      blocklist.addressBlocked('::ffff:203.0.113.200'),
      blocklist.accountBlocked('key_a'),
      blocklist.addressBlocked('203.0.114.1'),
      // It may be in any network that is blocked.
      blocklist.blocksNetworks && blocklist.addressBlocked(UNKNOWN_ADDRESS),
    ];
    expect(answers(before)).toEqual([false, false, false, false, false, false]);
    const between = await now();
    expect(answers(between)).toEqual([true, true, true, false, false, true]);
    await expect(
      blocks.add('network', '203.0.113.77/24', { reason: '' }, 'operator'),
    ).rejects.toThrow('This network is blocked already.');
    await expect(blocks.add('network', 'example.com', { reason: '' }, 'operator')).rejects.toThrow(
      'CIDR notation',
    );
    await blocks.remove('network', '203.0.113.1/24', 'operator');
    await expect(blocks.remove('network', '203.0.113.1/24', 'operator')).rejects.toThrow(
      'is not blocked',
    );
    expect([answers(await now()), answers(between)]).toEqual([
      [true, true, false, false, false, false],
      [true, true, true, false, false, true],
    ]);
    expect((await blocks.list()).map(({ kind, value, reason }) => [kind, value, reason])).toEqual([
      ['account', 'acct_a', 'abuse'],
      ['key', 'key_a', ''],
    ]);
  });

  test('a block for a while ends by itself, and then may be set again', async () => {
    const blocks = createBlocks({ ...identity, randomBytes });
    const now = async () => {
      const { blocklist, changesAt } = await readBlocklist(database, identity.clock());
      return [blocklist.accountBlocked('acct_b'), changesAt] as const;
    };
    const hour = { reason: 'scan', forMs: 3_600_000 };
    const block = await blocks.add('account', 'acct_b', hour, 'operator');
    expect(block.expiresAt).toBe(identity.clock() + 3_600_000);
    expect(await now()).toEqual([true, identity.clock() + 3_600_000]);
    identity.advance(3_599_999);
    expect((await now())[0]).toBe(true);
    await expect(blocks.add('account', 'acct_b', hour, 'operator')).rejects.toThrow(
      'blocked already',
    );
    identity.advance(1);
    expect(await now()).toEqual([false, Infinity]);
    expect((await blocks.list()).some(({ value }) => value === 'acct_b')).toBe(false);
    await expect(blocks.remove('account', 'acct_b', 'operator')).rejects.toThrow('is not blocked');
    await blocks.add('account', 'acct_b', { reason: 'for good' }, 'operator');
    expect(await now()).toEqual([true, Infinity]);
    await blocks.remove('account', 'acct_b', 'operator');
  });

  test('maintenance has words of its own for as long as it is on, and each change is audited once', async () => {
    const settings = createSettings({ ...identity, randomBytes });
    expect(await settings.maintenance()).toEqual({ on: false });
    await settings.setMaintenance({ on: true }, 'operator');
    await settings.setMaintenance({ on: true }, 'operator');
    expect(await readMaintenance(database)).toEqual({ on: true });
    await settings.setMaintenance({ on: true, message: '  Back at noon. ' }, 'operator');
    expect(await readMaintenance(database)).toEqual({ on: true, message: 'Back at noon.' });
    for (const message of ['', ' ', 'a\nb', 'a\u2028b', 'a\u0007b', '\ud800', 'x'.repeat(201)]) {
      await expect(settings.setMaintenance({ on: true, message }, 'operator')).rejects.toThrow(
        'one line',
      );
    }
    await settings.setMaintenance({ on: false }, 'operator');
    expect(await readMaintenance(database)).toEqual({ on: false });
    const events = (await database.db.select().from(auditEvents).all()).filter(
      (event) => event.action === 'setting.changed',
    );
    expect(events.map((event) => [event.subject, JSON.parse(event.detail)])).toEqual([
      ['maintenance', { from: null, to: 'on' }],
      ['maintenance_message', { from: null, to: 'Back at noon.' }],
      ['maintenance', { from: 'on', to: 'off' }],
      ['maintenance_message', { from: 'Back at noon.', to: null }],
    ]);
  });

  test('the last use of a key and its address are written at a flush, at most once a minute', async () => {
    const account = await addAccount(identity);
    const { row } = await identity.keys.create({ accountId: account.id }, 'operator');
    const failures: unknown[] = [];
    const activity = createKeyActivity({ database, onError: (error) => failures.push(error) });
    const lastUsed = async () => {
      const { lastUsedAt, lastUsedAddress } = await identity.keys.find(row.id);
      return [lastUsedAt, lastUsedAddress];
    };
    let resolved = 0;
    const from = (text: string) => ({
      address() {
        resolved += 1;
        return text;
      },
    });
    activity.touch(row.id, 1_000_000, from('203.0.113.9'));
    expect(await lastUsed()).toEqual([null, null]);
    await activity.flush();
    expect(await lastUsed()).toEqual([1_000_000, '203.0.113.9']);
    activity.touch(row.id, 1_059_999, from('203.0.113.10'));
    await activity.flush();
    expect(await lastUsed()).toEqual([1_000_000, '203.0.113.9']);
    expect(resolved).toBe(1);
    activity.touch(row.id, 1_060_000, from('x'.repeat(46)));
    await activity.flush();
    expect(await lastUsed()).toEqual([1_060_000, null]);
    expect(failures).toEqual([]);
  });
});
