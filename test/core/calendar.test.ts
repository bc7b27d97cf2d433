// The calendar of the caps, over whatever the clock does.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  isoTime,
  nextUtcDay,
  nextUtcMonth,
  secondsToUtcMidnight,
  utcDay,
  utcMonth,
} from '../../src/core/calendar.ts';

test.each([
  [Date.UTC(2026, 10, 21, 0, 0, 0), '2026-11-21', '2026-11', 86_400, '2026-12-01'],
  [Date.UTC(2026, 11, 31, 23, 59, 59, 1), '2026-12-31', '2026-12', 1, '2027-01-01'],
  [Date.UTC(2026, 11, 31, 23, 59, 59, 999), '2026-12-31', '2026-12', 1, '2027-01-01'],
  [Date.UTC(2027, 0, 1), '2027-01-01', '2027-01', 86_400, '2027-02-01'],
  [Date.UTC(2028, 1, 29, 12), '2028-02-29', '2028-02', 43_200, '2028-03-01'],
])('%d', (now, day, month, seconds, nextMonth) => {
  expect([utcDay(now), utcMonth(now), secondsToUtcMidnight(now)]).toEqual([day, month, seconds]);
  expect(isoTime(nextUtcMonth(now))).toBe(`${nextMonth}T00:00:00.000Z`);
});

test('waiting until midnight leads into the next day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (now) => {
      const then = now + secondsToUtcMidnight(now) * 1_000;
      expect(utcDay(then) > utcDay(now)).toBe(true);
      expect(utcDay(then - 1_000 - 1) <= utcDay(now)).toBe(true);
      expect(isoTime(nextUtcDay(now))).toBe(`${utcDay(then)}T00:00:00.000Z`);
    }),
  );
});
