// The seeds that the tests replay: a few representative ones, and every one that has failed.

import { samples } from '../support/tier.ts';

export type Seed = { readonly seed: number; readonly minutes: number; readonly why: string };

const FIRST: readonly Seed[] = [1, 2, 3, 4, 5, 6].map((seed) => ({
  seed,
  minutes: samples(3, 5),
  why: 'one of the first',
}));

export const SEEDS: readonly Seed[] = [
  ...FIRST,
  { seed: 238_703_383, minutes: 1, why: 'an answer is over before its connection is closed' },
];
