// Authentication: every refusal of a valid key, in each form in which a key can be sent, and of a
// session that uses the playground.

import { afterAll, describe, expect, test } from 'bun:test';
import type { ErrorCode } from '../../src/core/error.ts';
import { GatewayError } from '../../src/core/error.ts';
import type { Maintenance } from '../../src/core/service-state.ts';
import { createAccess, createPlaygroundAccess } from '../../src/identity/access.ts';
import { createAuthenticator } from '../../src/identity/authenticate.ts';
import { createBlocks, readBlocklist } from '../../src/identity/blocks.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { addAccount, createIdentity } from './fixtures.ts';

describeOnEachDatabase('access', async () => {
  const ADDRESS = '203.0.113.7';

  const database = await newDatabase(temporaryDirectory());
  const identity = createIdentity(database);
  const blocks = createBlocks(identity);
  afterAll(() => database.close());

  type Customer = { readonly accountId: string; readonly keyId: string };

  /** What makes a good key refused, and takes that back. */
  const REFUSALS: Partial<Record<ErrorCode, (customer: Customer) => Promise<() => Promise<void>>>> =
    {
      async account_inactive({ accountId }) {
        await identity.accounts.changeStanding(accountId, 'suspended', 'operator');
        return async () => {
          await identity.accounts.changeStanding(accountId, 'active', 'operator');
        };
      },
      account_blocked: ({ accountId }) => block('account', accountId),
      api_key_blocked: ({ keyId }) => block('key', keyId),
      ip_blocked: () => block('network', '203.0.113.0/24'),
    };

  async function block(
    kind: 'account' | 'key' | 'network',
    value: string,
  ): Promise<() => Promise<void>> {
    await blocks.add(kind, value, { reason: 'test' }, 'operator');
    return async () => {
      await blocks.remove(kind, value, 'operator');
    };
  }

  const FORMS = {
    Authorization: (key: string) => ({ authorization: `Bearer ${key}`, xApiKey: null }),
    'x-api-key': (key: string) => ({ authorization: null, xApiKey: key }),
    both: (key: string) => ({ authorization: `Bearer ${key}`, xApiKey: key }),
  };

  const account = await addAccount(identity);
  const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
  let maintenance: Maintenance = { on: false };

  /** `ok`, or the code of the refusal. */
  async function enter(presented: {
    authorization: string | null;
    xApiKey: string | null;
  }): Promise<string> {
    const access = createAccess({ authenticator: createAuthenticator(identity) });
    const { blocklist } = await readBlocklist(database, identity.clock());
    const asked = { ...presented, address: () => ADDRESS };
    try {
      return (await access(asked, { blocklist, maintenance })).keyId === row.id
        ? 'ok'
        : 'another key';
    } catch (error) {
      if (error instanceof GatewayError) return error.code;
      throw error;
    }
  }

  describe.each(Object.entries(FORMS))('a key in %s', (_name, present) => {
    test.each(Object.entries(REFUSALS))(
      'is refused with %s, and only then',
      async (code, refuse) => {
        expect(await enter(present(key))).toBe('ok');
        const undo = await refuse({ accountId: account.id, keyId: row.id });
        expect(await enter(present(key))).toBe(code);
        await undo();
        expect(await enter(present(key))).toBe('ok');
      },
    );

    test('is refused in maintenance', async () => {
      maintenance = { on: true };
      expect(await enter(present(key))).toBe('maintenance_mode');
      maintenance = { on: false };
    });
  });

  describe('a signed-in user', () => {
    const access = createPlaygroundAccess(database);

    /** What the pipeline receives, or the code of the refusal. */
    async function enterSignedIn(accountId: string): Promise<unknown> {
      const { blocklist } = await readBlocklist(database, identity.clock());
      try {
        return await access({ accountId, address: ADDRESS }, { blocklist, maintenance });
      } catch (error) {
        if (error instanceof GatewayError) return error.code;
        throw error;
      }
    }

    const { id: accountId, plan, planSince, standing, emailVerified } = account;
    const facts = { accountId, keyId: 'playground', plan, planSince, standing, emailVerified };

    test.each(Object.entries(REFUSALS).filter(([code]) => code !== 'api_key_blocked'))(
      'is refused with %s, and only then',
      async (code, refuse) => {
        expect(await enterSignedIn(accountId)).toEqual(facts);
        const undo = await refuse({ accountId, keyId: row.id });
        expect(await enterSignedIn(accountId)).toBe(code);
        await undo();
        expect(await enterSignedIn(accountId)).toEqual(facts);
      },
    );

    test('is refused in maintenance, with an address that is not verified, and without an account', async () => {
      maintenance = { on: true };
      expect(await enterSignedIn(accountId)).toBe('maintenance_mode');
      maintenance = { on: false };
      const facts = { email: 'new@example.com', plan: 'pro', emailVerified: false };
      const unverified = await identity.accounts.create(facts, 'operator');
      expect(await enterSignedIn(unverified.id)).toBe('email_not_verified');
      expect(await enterSignedIn('acct_of_nobody')).toBe('account_inactive');
    });

    test('has no key that could be blocked', async () => {
      const undo = await REFUSALS.api_key_blocked?.({ accountId, keyId: row.id });
      expect(await enterSignedIn(accountId)).toEqual(facts);
      await undo?.();
    });
  });
});
