// Fixed windows: how they begin, roll, give back, and come back after a restart.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  createWindow,
  giveBack,
  type RateWindow,
  resetSeconds,
  resumeWindow,
  rollWindow,
  takeFrom,
  WINDOW_MS,
} from '../../src/core/window.ts';

/** The clock of a process that began a moment ago: instants below zero were before that. */
const START = 5_000.25;

const started = (): RateWindow => ({ startedAt: START, requests: 2, tokens: 7 });

describe('a window', () => {
  test('begins with its first request and counts the others', () => {
    const window = createWindow();
    takeFrom(window, 3, 0);
    takeFrom(window, 4, 10);
    expect(window).toEqual({ startedAt: 0, requests: 2, tokens: 7 });
  });

  test('lasts 60 seconds from its start, and not a millisecond longer', () => {
    const window = started();
    expect(rollWindow(window, START + 59_999)).toBe(window);
    expect(rollWindow(window, START + 60_000)).toEqual(createWindow());
    const unused = createWindow();
    expect(rollWindow(unused, START + 1e9)).toBe(unused);
  });

  test('that has run out is left to those who took from it', () => {
    const window = started();
    const next = rollWindow(window, START + WINDOW_MS);
    giveBack(window, 7);
    expect([window, next]).toEqual([{ startedAt: START, requests: 1, tokens: 0 }, createWindow()]);
  });

  test('that nothing is left in has not begun', () => {
    const window = started();
    giveBack(window, 3);
    giveBack(window, 4);
    expect(window).toEqual(createWindow());
  });

  test('resets in whole seconds, rounded up, at least one', () => {
    const window = started();
    const ages = [0, 1, 999, 1_000, 58_999, 59_000, 59_001, 59_999];
    expect(ages.map((age) => resetSeconds(window, START + age))).toEqual([
      60, 60, 60, 59, 2, 1, 1, 1,
    ]);
    expect(resetSeconds(window, START + 90_000)).toBe(1);
    expect(resetSeconds(createWindow(), START)).toBe(60);
  });

  test('a client that waits for the announced time finds a new window, within the second', () => {
    fc.assert(
      fc.property(fc.nat(59_999), (age) => {
        const window = started();
        const waitMs = resetSeconds(window, START + age) * 1_000;
        expect(rollWindow(window, START + age + waitMs)).toEqual(createWindow());
        expect(waitMs).toBeLessThan(60_000 - age + 1_000);
      }),
    );
  });
});

describe('a window that is resumed', () => {
  const past = [
    { atMs: -5, tokens: 10 },
    { atMs: -20_000, tokens: 20 },
    { atMs: -59_000, tokens: 40 },
  ];

  test.each([
    ['reaches back to all of the last minute', {}, -59_000, 3, 70],
    ['but not to before its requests were used up', { requestsPerMinute: 2 }, -20_000, 2, 30],
    ['nor its tokens', { tokensPerMinute: 11 }, -20_000, 2, 30],
    ['and is full where one was enough', { tokensPerMinute: 10 }, -5, 1, 10],
  ])('%s', (_, limits, startedAt, requests, tokens) => {
    expect(resumeWindow(past, limits)).toEqual({ startedAt, requests, tokens });
  });

  test('has not begun where nothing was admitted', () => {
    expect(resumeWindow([], { requestsPerMinute: 1 })).toEqual(createWindow());
  });
});
