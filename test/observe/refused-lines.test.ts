// A flood of refusals writes so many lines a second and no more, and says how many it has left out.

import { expect, test } from 'bun:test';
import { createRefusedLines } from '../../src/observe/refused-lines.ts';
import { waitUntil } from '../support/upstream.ts';

test('below the rate every line is written, above it the rest is counted and told', () => {
  let nowMs = 0;
  const told: number[] = [];
  const lines = createRefusedLines({
    monotonic: () => nowMs,
    onLeftOut: (count) => void told.push(count),
  });
  const written = (tries: number): number =>
    Array.from({ length: tries }, lines.mayWrite).filter((may) => may).length;
  expect([written(150), written(100), told]).toEqual([150, 50, []]);
  nowMs = 999;
  expect(written(10)).toBe(0);
  nowMs = 1_000;
  expect([written(200), told]).toEqual([200, [60]]);
  nowMs = 5_000;
  expect([written(1), told]).toEqual([1, [60]]);
});

test('the end of a flood is told, too', async () => {
  const told: number[] = [];
  const lines = createRefusedLines({ monotonic: () => 0, onLeftOut: (count) => told.push(count) });
  for (let count = 0; count < 300; count += 1) lines.mayWrite();
  await waitUntil(() => told.length > 0);
  expect(told).toEqual([100]);
});
