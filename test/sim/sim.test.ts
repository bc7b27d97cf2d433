// A short run of the simulation, and a look at the simulation itself: it is worth what its faults
// and its checks are worth.

import { afterAll, describe, expect, test } from 'bun:test';
import { FAULTS } from './faults.ts';
import { SEEDS } from './seeds.ts';
import { type Report, simulate } from './simulate.ts';

const reports: Report[] = [];

describe('the invariants hold in a simulated world', () => {
  test.each(SEEDS)('seed $seed, $minutes minutes: $why', async ({ seed, minutes }) => {
    reports.push(await simulate(seed, minutes));
  });
});

test('every fault fired', () => {
  const never = FAULTS.filter((fault) => reports.every(({ faults }) => faults[fault] === 0));
  expect(never).toEqual([]);
});

test('the same seed plays the same world', async () => {
  expect(await simulate(7, 1)).toEqual(await simulate(7, 1));
});

afterAll(() => {
  expect(reports.length).toBe(SEEDS.length);
});
