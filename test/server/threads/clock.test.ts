// One monotonic clock for all threads: whenever a thread begins, and whatever an answer takes.

import { expect, test } from 'bun:test';
import { agreeOnTime } from '../../../src/server/threads/clock.ts';

test('a thread agrees with the main thread to less than half of the quickest answer', async () => {
  const ahead = 123_456;
  const waits = [30, 2, 12, 1, 5];
  let asked = 0;
  const time = agreeOnTime(() => {
    const waitMs = waits[asked] ?? 0;
    asked += 1;
    // The answer is late on its way back alone, which is the worst that it can be.
    const nowMs = performance.now() + ahead;
    setTimeout(() => time.answer(nowMs), waitMs);
  });
  const startedAt = performance.now();
  await time.agreed;
  expect(asked).toBe(5);
  expect(performance.now() - startedAt).toBeGreaterThan(40);
  expect(Math.abs(time.monotonic() - performance.now() - ahead)).toBeLessThan(20);
});
