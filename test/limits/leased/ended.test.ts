// What a node names in each call to Redis: the current day and month of an account, and earlier ones
// only while a request counts in them.

import { expect, test } from 'bun:test';
import { createCounters, dropEnded, take } from '../../../src/limits/leased/counters.ts';

test('ended periods are dropped once no open claim counts in them', () => {
  const counters = createCounters('acct_1');
  const periods = (...names: readonly string[]) =>
    names.map((name) => ({ name, kind: 'period', limit: [-1, -1] }) as const);
  const names = ['2026-10', '2026-11', '2026-10-31', '2026-11-01', '2026-11-02', '2026-12-01'];
  const taken = take(counters, { take: [1, 1], counters: periods(...names) }, 0);
  const open = taken.filter(({ name }) => name === '2026-11-01');
  const claim = { requestId: 'r', hasSlot: true, hasEnded: false, leaseUntil: 0, tokens: 1 };
  const running = { ...claim, counters: open };
  counters.claims.add(running);

  dropEnded(counters, []);
  expect(counters.all.size).toBe(6);
  dropEnded(counters, periods('2026-11-02', '2026-11'));
  expect([...counters.all.keys()]).toEqual(['2026-11', '2026-11-01', '2026-11-02', '2026-12-01']);
  counters.claims.delete(running);
  dropEnded(counters, periods('2026-11-02', '2026-11'));
  expect([...counters.all.keys()]).toEqual(['2026-11', '2026-11-02', '2026-12-01']);
});
