import { expect, test } from 'bun:test';
import { createBackoff } from '../../src/async/backoff.ts';

test('doubles from 100 ms to 5 s, and starts over after a success', () => {
  const backoff = createBackoff();
  const waits = Array.from({ length: 8 }, () => backoff.next());
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  backoff.reset();
  expect([backoff.next(), backoff.next()]).toEqual([100, 200]);
});
