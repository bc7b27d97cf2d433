// The test tier: `quick` for every change, `default` for every push, `all` for everything.
// scripts/test sets it; a test that is run by hand uses `default`.

import { describe, test } from 'bun:test';

export type Tier = 'quick' | 'default' | 'all';

export const TIER = tierOf(process.env['TOLLGATE_TEST_TIER'] ?? 'default');

function tierOf(name: string): Tier {
  if (name === 'quick' || name === 'default' || name === 'all') return name;
  throw new Error(`TOLLGATE_TEST_TIER is ${name}: it takes quick, default or all.`);
}

/** How many samples a law draws, or rounds a rig plays: `full` in the tier `all`. */
export function samples(few: number, full: number, quick = few): number {
  return { quick, default: few, all: full }[TIER];
}

/** Tests that are too slow for every push: only the tier `all` runs them. */
export const slowTest = test.skipIf(TIER !== 'all');

export const describeSlow = describe.skipIf(TIER !== 'all');
