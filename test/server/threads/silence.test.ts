// How long a thread has been silent, by who looked without a break.

import { expect, test } from 'bun:test';
import { createSilence } from '../../../src/server/threads/silence.ts';

/** Looks ten times a second from `from` to `to`, in seconds; answers the last silence, in seconds. */
function watch(silence: ReturnType<typeof createSilence>, from: number, to: number): number {
  let silentMs = 0;
  for (let tenths = from * 10; tenths <= to * 10; tenths += 1)
    silentMs = silence.look(tenths * 100);
  return silentMs / 1_000;
}

test('begins with the first word, and anew with each', () => {
  const silence = createSilence();
  expect(watch(silence, 0, 60)).toBe(0);
  silence.heard(60_000);
  expect(watch(silence, 60, 70)).toBe(10);
  silence.heard(70_000);
  expect(watch(silence, 70, 74)).toBe(4);
});

test('begins anew where nobody has looked for longer than a second', () => {
  const silence = createSilence();
  silence.heard(0);
  expect(watch(silence, 0, 14)).toBe(14);
  expect(silence.look(15_000)).toBe(15_000);
  expect(silence.look(16_001)).toBe(0);
  expect(watch(silence, 17, 20)).toBe(3.999);
});
