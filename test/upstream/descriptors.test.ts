// File descriptors reserved for upstreams, with a limit and a count that the test sets.

import { expect, test } from 'bun:test';
import { createDescriptors } from '../../src/upstream/descriptors.ts';

function open(limit: number, others: number) {
  const descriptors = createDescriptors({
    monotonic: () => 0,
    source: { limit, count: () => others },
  });
  return { descriptors };
}

test('requests up to the share have room, with any other use of descriptors', () => {
  const { descriptors } = open(148, 148);
  // 45 of the 100 that are not the process's own.
  expect([descriptors.hasRoom(44), descriptors.hasRoom(45)]).toEqual([true, false]);
  for (let count = 0; count < 45; count += 1) expect(descriptors.lend()).toBe(true);
  expect(descriptors.lend()).toBe(false);
  expect([descriptors.hasRoom(44), descriptors.hasRoom(45)]).toEqual([true, false]);
  descriptors.returned();
  expect(descriptors.lend()).toBe(true);
  descriptors.close();
});

test('above what is kept from the start, each request that has room is kept one at once', () => {
  const { descriptors } = open(2_048, 2_048);
  expect(descriptors.hasRoom(255)).toBe(true);
  for (let count = 256; count < 300; count += 1) expect(descriptors.hasRoom(count)).toBe(true);
  for (let count = 0; count < 300; count += 1) expect(descriptors.lend()).toBe(true);
  expect([descriptors.lend(), descriptors.hasRoom(900)]).toEqual([false, false]);
  descriptors.close();
});

test('a system that reports no limit has none', () => {
  const source = { limit: undefined, count: () => 0 };
  const descriptors = createDescriptors({ monotonic: () => 0, source });
  expect([descriptors.hasRoom(1_000_000), descriptors.lend()]).toEqual([true, true]);
});
