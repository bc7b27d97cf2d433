// Fixed windows and the calendar of the caps, over whatever the clock does.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  createWindow,
  resetSeconds,
  rollWindow,
  secondsToUtcMidnight,
  utcDay,
  utcMonth,
  type Window,
} from '../../src/core/window.ts';

const START = Date.UTC(2026, 10, 21, 12);

describe('a window', () => {
  test('lasts 60 seconds from its start, and not a millisecond longer', () => {
    const window: Window = { startedAt: START, used: 7 };
    rollWindow(window, START + 59_999);
    expect(window).toEqual({ startedAt: START, used: 7 });
    rollWindow(window, START + 60_000);
    expect(window).toEqual({ startedAt: undefined, used: 0 });
  });

  test('does not outlive a clock that was set back', () => {
    const window: Window = { startedAt: START, used: 7 };
    rollWindow(window, START - 1);
    expect(window).toEqual(createWindow());
  });

  test('resets in whole seconds, rounded up, at least one', () => {
    const window: Window = { startedAt: START, used: 1 };
    const ages = [0, 1, 999, 1_000, 58_999, 59_000, 59_001, 59_999];
    expect(ages.map((age) => resetSeconds(window, START + age))).toEqual([
      60, 60, 60, 59, 2, 1, 1, 1,
    ]);
    expect(resetSeconds(createWindow(), START)).toBe(60);
  });

  test('a client that waits for what it was told finds a new window', () => {
    fc.assert(
      fc.property(fc.nat(59_999), (age) => {
        const window: Window = { startedAt: START, used: 1 };
        const wait = resetSeconds(window, START + age) * 1_000;
        rollWindow(window, START + age + wait);
        expect(window.used).toBe(0);
        expect(wait).toBeLessThan(60_000 - age + 1_000);
      }),
    );
  });
});

describe('the calendar', () => {
  test.each([
    [Date.UTC(2026, 10, 21, 0, 0, 0), '2026-11-21', '2026-11', 86_400],
    [Date.UTC(2026, 11, 31, 23, 59, 59, 1), '2026-12-31', '2026-12', 1],
    [Date.UTC(2026, 11, 31, 23, 59, 59, 999), '2026-12-31', '2026-12', 1],
    [Date.UTC(2027, 0, 1), '2027-01-01', '2027-01', 86_400],
    [Date.UTC(2028, 1, 29, 12), '2028-02-29', '2028-02', 43_200],
  ])('%d', (now, day, month, seconds) => {
    expect([utcDay(now), utcMonth(now), secondsToUtcMidnight(now)]).toEqual([day, month, seconds]);
  });

  test('waiting until midnight leads into the next day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (now) => {
        const then = now + secondsToUtcMidnight(now) * 1_000;
        expect(utcDay(then) > utcDay(now)).toBe(true);
        expect(utcDay(then - 1_000 - 1) <= utcDay(now)).toBe(true);
      }),
    );
  });
});
