// How two numbers share one 64-bit word, so that both of them change in one step that other threads
// see as a whole or not at all. Pure; called by the limits in shared memory.

/** A tag in the upper bits and a value in those below it; both are whole and not negative. */
export type Packing = {
  readonly pack: (tag: number, value: number) => bigint;
  readonly tag: (word: bigint) => number;
  readonly value: (word: bigint) => number;
  /** The tag as it comes out of a word: what is too large for its bits has lost the upper ones. */
  readonly fit: (tag: number) => number;
  readonly valueMax: number;
};

const HALF = 2 ** 32;

// Arithmetic on halves: that of bigints would allocate at every step.
const whole = new BigUint64Array(1);
const [LOW, HIGH] = [0, 1];
const halves = new Uint32Array(whole.buffer);

/** `tagBits` is from 11 (the value then has 53, and no more are exact) to 32. */
export function createPacking(tagBits: number): Packing {
  const spareBits = 32 - tagBits;
  const spare = 2 ** spareBits;
  const tags = 2 ** tagBits;
  return {
    pack(tag, value) {
      halves[LOW] = value % HALF;
      halves[HIGH] = (tag % tags) * spare + Math.floor(value / HALF);
      return whole[0] ?? 0n;
    },
    tag(word) {
      whole[0] = word;
      return Math.floor((halves[HIGH] ?? 0) / spare);
    },
    value(word) {
      whole[0] = word;
      return ((halves[HIGH] ?? 0) % spare) * HALF + (halves[LOW] ?? 0);
    },
    fit: (tag) => tag % tags,
    valueMax: spare * HALF - 1,
  };
}
