// Authentication of a request: the cache's age, size and invalidation, and expiry to the
// millisecond.

import { afterAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../src/core/error.ts';
import { createKey } from '../../src/core/id.ts';
import {
  type Authenticator,
  CACHE_TIME_MS,
  createAuthenticator,
} from '../../src/identity/authenticate.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  tamper,
  temporaryDirectory,
} from '../support/database.ts';
import { addAccount, createIdentity } from './fixtures.ts';

describeOnEachDatabase('authentication by key', async () => {
  const database = await newDatabase(temporaryDirectory());
  const identity = createIdentity(database);
  afterAll(() => database.close());

  /** The key id that authentication answers with, or the code that it throws. */
  async function ask(authenticator: Authenticator, key: string | null): Promise<string> {
    try {
      return (await authenticator.authenticate(null, key)).keyId;
    } catch (error) {
      if (error instanceof GatewayError) return error.code;
      throw error;
    }
  }

  test('gives frozen facts of key and account, by either header', async () => {
    const account = await addAccount(identity, 'power');
    const { row, key } = await identity.keys.create(
      { accountId: account.id, name: 'ci' },
      'operator',
    );
    const authenticator = createAuthenticator(identity);
    const facts = await authenticator.authenticate(`Bearer ${key}`, null);
    expect(facts).toEqual({
      keyId: row.id,
      accountId: account.id,
      plan: 'power',
      planSince: account.planSince,
      standing: 'active',
      emailVerified: true,
    });
    expect(Object.isFrozen(facts)).toBe(true);
    expect(await authenticator.authenticate(null, key)).toBe(facts);
  });

  test('refuses missing, malformed and unknown keys, each with its code', async () => {
    const authenticator = createAuthenticator(identity);
    expect(await ask(authenticator, null)).toBe('missing_api_key');
    expect(await ask(authenticator, 'sk-short')).toBe('invalid_api_key');
    expect(authenticator.cachedKeys()).toBe(0);
    expect(await ask(authenticator, createKey(randomBytes))).toBe('invalid_api_key');
    expect(authenticator.cachedKeys()).toBe(1);
  });

  test('takes a change up after the cache time, or at once when invalidated', async () => {
    const account = await addAccount(identity);
    const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
    const authenticator = createAuthenticator(identity);
    expect(await ask(authenticator, key)).toBe(row.id);
    await identity.accounts.changeStanding(account.id, 'suspended', 'operator');
    identity.advance(CACHE_TIME_MS - 1);
    expect((await authenticator.authenticate(null, key)).standing).toBe('active');
    identity.advance(1);
    expect((await authenticator.authenticate(null, key)).standing).toBe('suspended');
    await identity.keys.revoke(row.id, 'operator', 'operator');
    expect(await ask(authenticator, key)).toBe(row.id);
    authenticator.invalidate();
    expect(await ask(authenticator, key)).toBe('invalid_api_key');
  });

  test('a clock that was set back does not keep an entry alive', async () => {
    const account = await addAccount(identity);
    const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
    const authenticator = createAuthenticator(identity);
    expect(await ask(authenticator, key)).toBe(row.id);
    await identity.keys.revoke(row.id, 'operator', 'operator');
    identity.advance(-1_000);
    expect(await ask(authenticator, key)).toBe('invalid_api_key');
    identity.advance(1_000);
  });

  test('an unknown key is remembered as such, and for no longer than a known one', async () => {
    const account = await addAccount(identity);
    const old = await identity.keys.create({ accountId: account.id }, 'operator');
    const authenticator = createAuthenticator(identity);
    await tamper(database, `UPDATE api_keys SET digest = 'hidden' WHERE id = '${old.row.id}'`);
    expect(await ask(authenticator, old.key)).toBe('invalid_api_key');
    await tamper(
      database,
      `UPDATE api_keys SET digest = '${old.row.digest}' WHERE id = '${old.row.id}'`,
    );
    expect(await ask(authenticator, old.key)).toBe('invalid_api_key');
    identity.advance(CACHE_TIME_MS);
    expect(await ask(authenticator, old.key)).toBe(old.row.id);
  });

  test('a key ends at its expiry, inside the cache time too', async () => {
    const account = await addAccount(identity);
    const expiresAt = identity.clock() + 1_000;
    const { row, key } = await identity.keys.create(
      { accountId: account.id, expiresAt },
      'operator',
    );
    const authenticator = createAuthenticator(identity);
    expect(await ask(authenticator, key)).toBe(row.id);
    identity.advance(999);
    expect(await ask(authenticator, key)).toBe(row.id);
    identity.advance(1);
    expect(await ask(authenticator, key)).toBe('invalid_api_key');
  });

  test('a flood of unknown keys neither grows the cache nor pushes a real key out', async () => {
    const account = await addAccount(identity);
    const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
    const authenticator = createAuthenticator(identity);
    expect(await ask(authenticator, key)).toBe(row.id);
    for (let guess = 0; guess < 10_050; guess += 1) {
      await ask(authenticator, `sk-${guess.toString().padStart(48, '0')}`);
    }
    expect(authenticator.cachedKeys()).toBe(10_001);
    // Gone from the database, so this answer can only come from the cache.
    await tamper(database, `UPDATE api_keys SET digest = 'gone' WHERE id = '${row.id}'`);
    expect(await ask(authenticator, key)).toBe(row.id);
  });

  test('two keys that differ in their last character alone are two keys', async () => {
    const authenticator = createAuthenticator(identity);
    const account = await addAccount(identity);
    const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
    const other = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    expect(await ask(authenticator, key)).toBe(row.id);
    expect(await ask(authenticator, other)).toBe('invalid_api_key');
    expect(await ask(authenticator, key)).toBe(row.id);
    // The other way round: a guess that was refused does not stand in the way of the key.
    authenticator.invalidate();
    expect(await ask(authenticator, other)).toBe('invalid_api_key');
    expect(await ask(authenticator, key)).toBe(row.id);
  });

  test('what was being read when everything was forgotten is not remembered, nor waited for', async () => {
    const account = await addAccount(identity);
    const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
    const authenticator = createAuthenticator(identity);
    const early = ask(authenticator, key);
    await identity.keys.revoke(row.id, 'operator', 'operator');
    authenticator.invalidate();
    expect(await ask(authenticator, key)).toBe('invalid_api_key');
    await early;
    expect(await ask(authenticator, key)).toBe('invalid_api_key');
  });

  test('a read that is overtaken by the end of its key leaves nothing behind', async () => {
    const account = await addAccount(identity);
    const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
    const authenticator = createAuthenticator(identity);
    const early = ask(authenticator, key);
    authenticator.invalidate();
    expect(await early).toBe(row.id);
    expect(authenticator.cachedKeys()).toBe(0);
  });

  test('a change of one account leaves what is cached of the others', async () => {
    const authenticator = createAuthenticator(identity);
    const account = await addAccount(identity);
    const own = await identity.keys.create({ accountId: account.id }, 'operator');
    const other = await identity.keys.create(
      { accountId: (await addAccount(identity)).id },
      'operator',
    );
    const late = await identity.keys.create({ accountId: account.id }, 'operator');
    const digestTo = (digest: string, { row }: typeof own) =>
      tamper(database, `UPDATE api_keys SET digest = '${digest}' WHERE id = '${row.id}'`);
    await digestTo('late', late);
    for (const { key } of [own, other, late]) await ask(authenticator, key);
    // Gone from the database, so further answers can only come from the cache.
    await digestTo('absent', other);
    await digestTo(late.row.digest, late);
    await identity.keys.revoke(own.row.id, 'operator', 'operator');
    const ids = new Set([account.id]);
    const answers = () => Promise.all([own, other, late].map(({ key }) => ask(authenticator, key)));
    expect(await answers()).toEqual([own.row.id, other.row.id, 'invalid_api_key']);
    authenticator.invalidate({ ids, hasNewKeys: false });
    expect(await answers()).toEqual(['invalid_api_key', other.row.id, 'invalid_api_key']);
    authenticator.invalidate({ ids, hasNewKeys: true });
    expect(await answers()).toEqual(['invalid_api_key', other.row.id, late.row.id]);
  });

  test('what was being read when any account changed is neither kept nor shared', async () => {
    const account = await addAccount(identity);
    const { row, key } = await identity.keys.create({ accountId: account.id }, 'operator');
    const authenticator = createAuthenticator(identity);
    const early = ask(authenticator, key);
    await identity.keys.revoke(row.id, 'operator', 'operator');
    authenticator.invalidate({ ids: new Set([account.id]), hasNewKeys: false });
    expect(await ask(authenticator, key)).toBe('invalid_api_key');
    await early;
    expect(await ask(authenticator, key)).toBe('invalid_api_key');
  });
});
