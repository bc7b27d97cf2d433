// Pauses of keys over a real database: what may be paused and resumed.

import { afterAll, expect, test } from 'bun:test';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { addAccount, createIdentity } from './fixtures.ts';

describeOnEachDatabase('pauses of keys', async () => {
  const database = await newDatabase(temporaryDirectory(), 'pauses');
  const identity = createIdentity(database);
  const { keys } = identity;
  afterAll(() => database.close());

  test.each(['owner', 'operator'] as const)('a revoked key is not resumed by an %s', async (by) => {
    const account = await addAccount(identity);
    const { row } = await keys.create({ accountId: account.id }, 'operator');
    await keys.pause(row.id, 'user', 'operator');
    await keys.revoke(row.id, 'operator', 'operator');
    const refused = 'This key is revoked. Create a new one.';
    await expect(keys.resume(row.id, by, 'operator')).rejects.toThrow(refused);
    await expect(keys.pause(row.id, 'user', 'operator')).rejects.toThrow(refused);
    expect(await keys.find(row.id)).toMatchObject({ pausedReason: 'user' });
  });
});
