// The calendar of the caps, across changes of the clock.

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
  expect(utcDay(now)).toEqual({ fromMs: Date.parse(day), untilMs: nextUtcDay(now) });
  expect(utcMonth(now)).toEqual({ fromMs: Date.parse(month), untilMs: nextUtcMonth(now) });
  expect(secondsToUtcMidnight(now, now)).toBe(seconds);
  expect(isoTime(nextUtcMonth(now))).toBe(`${nextMonth}T00:00:00.000Z`);
});

test('an instant prints like a date, in any order of instants', () => {
  const near = fc.integer({ min: 1_795_248_274_000, max: 1_795_248_277_000 });
  const any = fc.oneof(near, fc.integer({ min: -(10 ** 14), max: 10 ** 14 }), fc.double());
  fc.assert(
    fc.property(fc.array(any.filter((ms) => Math.abs(ms) <= 8.64e15)), (instants) => {
      expect(instants.map(isoTime)).toEqual(instants.map((ms) => new Date(ms).toISOString()));
    }),
  );
});

const instant = fc.integer({ min: 0, max: 4_102_444_800_000 });

test('waiting until midnight leads into the next day, and not further', () => {
  fc.assert(
    fc.property(instant, (now) => {
      const then = now + secondsToUtcMidnight(now, now) * 1_000;
      expect(utcDay(then).fromMs).toBe(utcDay(now).untilMs);
      expect(utcDay(then - 1_000).fromMs).toBe(utcDay(now).fromMs);
    }),
  );
});

test('the wait is from now, and at least a second where that day is over', () => {
  const late = Date.UTC(2026, 10, 21, 23, 59, 58);
  const waits = [-86_400_000, 0, 1, 1_999, 2_000, 30_000];
  expect(waits.map((later) => secondsToUtcMidnight(late, late + later))).toEqual([
    86_402, 2, 2, 1, 1, 1,
  ]);
});

test('every instant lies in one day and in one month, and days do not cross months', () => {
  fc.assert(
    fc.property(instant, (now) => {
      const day = utcDay(now);
      const month = utcMonth(now);
      expect(day.fromMs <= now && now < day.untilMs).toBe(true);
      expect(month.fromMs <= day.fromMs && day.untilMs <= month.untilMs).toBe(true);
      expect(utcDay(day.untilMs - 1)).toEqual(day);
      expect(utcMonth(month.untilMs - 1)).toEqual(month);
      expect([utcDay(day.untilMs).fromMs, utcMonth(month.untilMs).fromMs]).toEqual([
        day.untilMs,
        month.untilMs,
      ]);
    }),
  );
});
