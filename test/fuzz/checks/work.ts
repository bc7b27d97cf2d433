// Counts what a codec does. While it runs, the built-in functions that go through texts, bytes and
// lists count what they go through. Counts and no clock, so that the answer is always the same.

import assert from 'node:assert/strict';

type Method = (this: unknown, ...given: unknown[]) => unknown;

type Call = {
  readonly self: unknown;
  readonly given: readonly unknown[];
  readonly result: unknown;
  /** Where an expression that goes on had stopped before. */
  readonly from: number;
};

/** What one call has gone through. */
type Cost = (call: Call) => number;

const own: Cost = ({ self }) => lengthOf(self);
const made: Cost = ({ result }) => lengthOf(result);
const argument: Cost = ({ given }) => lengthOf(given[0]);
/** What is longer than the text is not even compared. */
const compared: Cost = ({ self, given }) => Math.min(lengthOf(self), lengthOf(given[0]));
const found: Cost = ({ self, given, result }) => {
  const from = typeof given[1] === 'number' ? given[1] : 0;
  return (typeof result === 'number' && result >= 0 ? result : lengthOf(self)) - from;
};
const matched: Cost = ({ given, result, from }) => {
  const match = result as RegExpExecArray | null;
  return (match === null ? lengthOf(given[0]) : match.index + match[0].length) - from;
};

const COUNTED: readonly (readonly [owner: object, cost: Cost, names: readonly string[]])[] = [
  [JSON, argument, ['parse']],
  [JSON, made, ['stringify']],
  [Object, made, ['keys', 'entries', 'values']],
  [RegExp.prototype, matched, ['exec']],
  [TextDecoder.prototype, argument, ['decode']],
  [String.prototype, found, ['indexOf']],
  [String.prototype, made, ['slice', 'substring', 'trim', 'trimStart', 'trimEnd', 'toWellFormed']],
  [
    String.prototype,
    own,
    ['replace', 'replaceAll', 'split', 'lastIndexOf', 'includes', 'isWellFormed'],
  ],
  [String.prototype, compared, ['startsWith', 'endsWith']],
  [String.prototype, () => 1, ['charCodeAt', 'charAt', 'codePointAt', 'at']],
  [Array.prototype, found, ['indexOf', 'findIndex']],
  [
    Array.prototype,
    own,
    ['find', 'some', 'every', 'includes', 'filter', 'flatMap', 'map', 'reduce'],
  ],
  [
    Array.prototype,
    own,
    ['splice', 'unshift', 'shift', 'join', 'flat', 'forEach', 'findLastIndex'],
  ],
  [Array.prototype, made, ['slice', 'concat']],
  [Buffer.prototype, found, ['indexOf']],
  [Object.getPrototypeOf(Uint8Array.prototype), argument, ['set']],
];

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  const { length = 1 } = (value ?? {}) as { readonly length?: number };
  return length;
}

/** The work of one run. Built-in functions are put back after every outcome. */
function workOf(run: () => void): number {
  let work = 0;
  const undo: (() => void)[] = [];
  for (const [owner, cost, names] of COUNTED) {
    for (const name of names) {
      const original = Reflect.get(owner, name) as Method;
      const counting: Method = function (...given) {
        const from = this instanceof RegExp && this.global ? this.lastIndex : 0;
        const result = Reflect.apply(original, this, given);
        work += 1 + Math.max(0, cost({ self: this, given, result, from }));
        return result;
      };
      const described = Object.getOwnPropertyDescriptor(owner, name) ?? {};
      Object.defineProperty(owner, name, { ...described, value: counting });
      undo.push(() => Object.defineProperty(owner, name, described));
    }
  }
  try {
    run();
  } finally {
    for (const restore of undo) restore();
  }
  return work;
}

/** How many of something there are in the smaller input. */
const REPEATS = 400;

/** A linear codec does four times as much; one that looks back at everything, up to sixteen. */
const GROWTH_MAX = 6;

/** What is done once, for any length. */
const FIXED_WORK = 20_000;

/** Fails where four times the input is more than a few times the work. */
export function checkGrowth(run: (repeats: number) => () => void): void {
  const [few, many] = [run(REPEATS), run(4 * REPEATS)];
  // Tables that are made on first use are made before anything is counted.
  few();
  const [work, more] = [workOf(few), workOf(many)];
  assert.ok(
    more <= GROWTH_MAX * work + FIXED_WORK,
    `four times the input is ${(more / work).toFixed(1)} times the work`,
  );
}
