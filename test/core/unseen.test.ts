// The numbers of an estimate give its usage, and no other.

import { expect, test } from 'bun:test';
import { isRecomputed, withOwnNumbers, withUnseen } from '../../src/core/unseen.ts';
import { NO_USAGE } from '../../src/core/usage.ts';

const counted = { ...NO_USAGE, inputTokens: 120, outputTokens: 20, basis: 'estimated' as const };
const prompt = { counted: 100, ratioPercent: 120, seen: 20, quietMs: 0, quietTokens: 0, pace: 0 };
const estimated = withUnseen(
  { ...counted, estimate: prompt },
  { quietMs: 900, quietTokens: 5 },
  100,
  80,
);

test('an estimate is recomputed from its numbers, up to the bound of its answer', () => {
  expect([estimated.outputTokens, estimated.estimate?.most]).toEqual([80, 80]);
  expect(isRecomputed(estimated)).toBe(true);
  expect(isRecomputed(counted)).toBe(true);
});

test('a changed count is not what they give', () => {
  expect(isRecomputed({ ...estimated, outputTokens: 79 })).toBe(false);
  expect(isRecomputed({ ...estimated, inputTokens: 119 })).toBe(false);
});

test('a bound that lowers a count after the estimate corrects its numbers', () => {
  const lowered = { ...counted, estimate: prompt, inputTokens: 110, outputTokens: 10 };
  expect(isRecomputed(lowered)).toBe(false);
  expect(isRecomputed(withOwnNumbers(lowered))).toBe(true);
});
