// Incident limits over a real database: snapshots, replacement, and refusals.

import { afterAll, expect, test } from 'bun:test';
import { createIncidents, readIncidents } from '../../src/catalog/incidents.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';

describeOnEachDatabase('incidents', async () => {
  const database = await newDatabase(temporaryDirectory());
  afterAll(() => database.close());
  const clock = (): number => 1_000;

  test('an incident replaces the one before, and what was read before it stays', async () => {
    const incidents = createIncidents({ database, clock });
    const before = await readIncidents(database);
    await incidents.set('swift-1', { requestsPerMinute: 30, concurrentRequests: 2 }, 'capacity');
    await incidents.set('swift-1', { tokensPerMinute: 9_000 }, 'still capacity');
    expect(before('swift-1')).toBeUndefined();
    expect((await readIncidents(database))('swift-1')).toEqual({ tokensPerMinute: 9_000 });
    expect(await incidents.list()).toEqual([
      {
        model: 'swift-1',
        requestsPerMinute: null,
        tokensPerMinute: 9_000,
        concurrentRequests: null,
        reason: 'still capacity',
        updatedAt: 1_000,
      },
    ]);
    expect([await incidents.clear('swift-1'), await incidents.clear('swift-1')]).toEqual([
      true,
      false,
    ]);
    expect([(await readIncidents(database))('swift-1'), await incidents.list()]).toEqual([
      undefined,
      [],
    ]);
  });

  test.each([{}, { requestsPerMinute: 0 }, { tokensPerMinute: 1.5 }, { concurrentRequests: -1 }])(
    'the limits %p are refused and nothing is stored',
    async (limits) => {
      const incidents = createIncidents({ database, clock });
      await expect(incidents.set('swift-1', limits, '')).rejects.toThrow(RangeError);
      expect(await incidents.list()).toEqual([]);
    },
  );
});
