// Fixed windows, over whatever the clock does.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createWindow, resetSeconds, rollWindow, type Window } from '../../src/core/window.ts';

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
