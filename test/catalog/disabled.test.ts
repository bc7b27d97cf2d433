// Disabled upstreams and models over a real database, and that a snapshot does not change.

import { afterAll, expect, test } from 'bun:test';
import { disable, enable, listDisabled, readDisabled } from '../../src/catalog/disabled.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';

describeOnEachDatabase('disabled models', async () => {
  const database = await newDatabase(temporaryDirectory());
  afterAll(() => database.close());

  test('an upstream is out of service for all models, or for one of them, until it is put back', async () => {
    const before = await readDisabled(database);
    await disable(database, { upstream: 'b.x', model: 'swift-1' }, 'slow', 1);
    await disable(database, { upstream: 'a' }, 'down', 2);
    await disable(database, { upstream: 'a' }, 'still down', 3);
    expect(before('a', 'swift-1')).toBe(false);
    const now = await readDisabled(database);
    expect([
      now('a', 'swift-1'),
      now('a', 'swift-2'),
      now('b.x', 'swift-1'),
      now('b.x', 'swift-2'),
      now('b', 'swift-1'),
    ]).toEqual([true, true, true, false, false]);
    expect(await listDisabled(database)).toEqual([
      { upstream: 'a', reason: 'still down', since: 3 },
      { upstream: 'b.x', model: 'swift-1', reason: 'slow', since: 1 },
    ]);
    expect([
      await enable(database, { upstream: 'b.x' }),
      await enable(database, { upstream: 'a' }),
    ]).toEqual([false, true]);
    expect((await readDisabled(database))('a', 'swift-1')).toBe(false);
    expect(await listDisabled(database)).toHaveLength(1);
  });
});
