// A flood of refusals writes a bounded number of lines a second, and reports how many were left
// out.

import { expect, test } from 'bun:test';
import { createRefusedLines } from '../../src/observe/refused-lines.ts';
import { waitUntil } from '../support/upstream.ts';

test('below the rate every line is written, above it the rest is counted and reported', () => {
  let nowMs = 0;
  const leftOut: number[] = [];
  const lines = createRefusedLines({
    monotonic: () => nowMs,
    onLeftOut: (count) => void leftOut.push(count),
  });
  const written = (tries: number): number =>
    Array.from({ length: tries }, lines.mayWrite).filter((may) => may).length;
  expect([written(150), written(100), leftOut]).toEqual([150, 50, []]);
  nowMs = 999;
  expect(written(10)).toBe(0);
  nowMs = 1_000;
  expect([written(200), leftOut]).toEqual([200, [60]]);
  nowMs = 5_000;
  expect([written(1), leftOut]).toEqual([1, [60]]);
});

test('the end of a flood is reported, too', async () => {
  const leftOut: number[] = [];
  const lines = createRefusedLines({
    monotonic: () => 0,
    onLeftOut: (count) => leftOut.push(count),
  });
  for (let count = 0; count < 300; count += 1) lines.mayWrite();
  await waitUntil(() => leftOut.length > 0);
  expect(leftOut).toEqual([100]);
});
