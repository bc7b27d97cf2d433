// When an answer counts as too slow: never while every window has enough output, soon after all of
// them have less, and no sooner than after a full window.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createThroughput } from '../../src/core/throughput.ts';

const WINDOW_MS = 8_000;
const STEP_MS = 1_000;

/** Tokens at times, looked at whenever there is something to look at. When it was too slow first. */
function tooSlowAt(
  leastPerSecond: number,
  made: readonly (readonly [atMs: number, tokens: number])[],
  untilMs: number,
): number | undefined {
  const throughput = createThroughput(WINDOW_MS, leastPerSecond);
  const lookUntil = (atMs: number): number | undefined => {
    for (let at = throughput.nextCheckAt(); at <= atMs; at = throughput.nextCheckAt()) {
      if (throughput.isTooSlow(at)) return at;
    }
    return throughput.isTooSlow(atMs) ? atMs : undefined;
  };
  for (const [atMs, tokens] of made) {
    const at = lookUntil(atMs);
    if (at !== undefined) return at;
    throughput.add(tokens);
  }
  return lookUntil(untilMs);
}

/** A token every so many milliseconds. */
function steady(everyMs: number, untilMs: number): [number, number][] {
  return Array.from({ length: Math.floor(untilMs / everyMs) }, (_, index) => [index * everyMs, 1]);
}

describe('by the table', () => {
  test.each([
    ['nothing after the first token', [[0, 1]], 1, 8_000],
    ['as fast as it must be', steady(1_000, 60_000), 1, undefined],
    ['a little slower than it must be', steady(1_200, 60_000), 1, 8_000],
    ['fast, then nothing', steady(100, 10_000), 1, 18_000],
    ['all at once is enough for one window', [[0, 8]], 1, 9_000],
    ['a window that has only begun', [[0, 1]], 1_000, 8_000],
  ] as const)('%s', (_, made, least, expected) => {
    expect(tooSlowAt(least, made, 60_000)).toBe(expected);
  });
});

test('what makes enough in every step is never too slow', () => {
  const steps = fc.array(fc.integer({ min: 3, max: 500 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: STEP_MS - 1 }), (tokens, offset) => {
      const made = tokens.map((count, index) => [index * STEP_MS + offset, count] as const);
      expect(tooSlowAt(3, made, tokens.length * STEP_MS)).toBeUndefined();
    }),
  );
});

test('what makes too little in every window is found out when the first one is over', () => {
  const gaps = fc.array(fc.integer({ min: 1_001, max: 3_000 }), { minLength: 30, maxLength: 60 });
  fc.assert(
    fc.property(gaps, (all) => {
      let at = 0;
      const made = all.map((gap) => {
        at += gap;
        return [at, 1] as const;
      });
      expect(tooSlowAt(1, made, 60_000)).toBe(WINDOW_MS);
    }),
  );
});

test('one long step back into sight is looked at like many', () => {
  const throughput = createThroughput(WINDOW_MS, 1);
  throughput.add(1_000);
  expect(throughput.isTooSlow(8_999)).toBe(false);
  expect(throughput.isTooSlow(1_000_000)).toBe(true);
});
