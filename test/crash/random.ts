// Choices that a seed decides: the same seed draws the same requests, faults and kills.
// Only the timing of a round is not the seed's.

export type Random = {
  /** From 0 up to, but not including, 1. */
  readonly next: () => number;
  /** A whole number from `least` to `most`, both included. */
  readonly whole: (least: number, most: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
  /** A stream of choices of its own, so that one party's choices do not move another's. */
  readonly fork: (label: string) => Random;
};

export function createRandom(seed: number | string): Random {
  let state = Bun.hash.xxHash32(String(seed));

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]): T => {
      const chosen = list[whole(0, list.length - 1)];
      if (chosen === undefined) throw new Error('nothing to pick from');
      return chosen;
    },
    fork: (label) => createRandom(`${seed}/${label}`),
  };
}
