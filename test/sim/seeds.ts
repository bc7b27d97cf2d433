// Seeds that the tests play each time: a few that stand for all, and every one that has failed.

export type Seed = { readonly seed: number; readonly minutes: number; readonly why: string };

export const SEEDS: readonly Seed[] = [1, 2, 3, 4, 5, 6].map((seed) => ({
  seed,
  minutes: 5,
  why: 'one of the first',
}));
