// What a node names in each call to Redis: the current day and month of an account, and earlier ones
// only while a request counts in them.

import { expect, test } from 'bun:test';
import { dropEnded } from '../../../src/limits/leased/claims.ts';
import { createCounters, periodOf } from '../../../src/limits/leased/counters.ts';

test('ended periods are dropped once no open claim counts in them', () => {
  const counters = createCounters('acct_1');
  for (const name of ['2026-10', '2026-11', '2026-10-31', '2026-11-01', '2026-11-02', '2026-12-01'])
    counters.periods.set(name, periodOf(counters, name));
  const open = counters.periods.get('2026-11-01');
  if (open === undefined) throw new Error('there is no such period');
  const claim = {
    requestId: 'r',
    startedAt: 0,
    model: 'm',
    hasSlot: true,
    leaseUntil: 0,
    tokens: 1,
  };
  const running = { ...claim, periods: [open] };
  counters.claims.add(running);

  dropEnded(counters, []);
  expect(counters.periods.size).toBe(6);
  dropEnded(counters, ['2026-11-02', '2026-11']);
  expect([...counters.periods.keys()]).toEqual([
    '2026-11',
    '2026-11-01',
    '2026-11-02',
    '2026-12-01',
  ]);
  counters.claims.delete(running);
  dropEnded(counters, ['2026-11-02', '2026-11']);
  expect([...counters.periods.keys()]).toEqual(['2026-11', '2026-11-02', '2026-12-01']);
});
