// A short run of the simulation, and tests of its faults and checks.

import { afterAll, describe, expect, test } from 'bun:test';
import { FAULTS } from './faults.ts';
import { SEEDS } from './seeds.ts';
import { type Report, simulate } from './simulate.ts';

/** A world that is given up in the middle would leave its timers to the tests behind it. */
const TIMEOUT_MS = 300_000;

const reports: Report[] = [];

describe('the invariants hold in a simulated world', () => {
  test.each(SEEDS)(
    'seed $seed, $minutes minutes: $why',
    async ({ seed, minutes }) => {
      reports.push(await simulate(seed, minutes));
    },
    TIMEOUT_MS,
  );
});

test('every fault fired', () => {
  const never = FAULTS.filter((fault) => reports.every(({ faults }) => faults[fault] === 0));
  expect(never).toEqual([]);
});

test(
  'the same seed plays the same world',
  async () => expect(await simulate(7, 1)).toEqual(await simulate(7, 1)),
  TIMEOUT_MS,
);

afterAll(() => {
  expect(reports.length).toBe(SEEDS.length);
});
