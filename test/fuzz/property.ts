// The type of a fuzzed law: inputs to draw and a check that throws when the law fails. Both runners
// (fuzz.test.ts and scripts/fuzz.ts) use only this. Inputs are plain data, so that a failing one
// can be kept in a file and replayed after the generators change.

import fc from 'fast-check';

/** Data that survives `saveInput` and `loadInput`: JSON, bytes among it. */
export type PlainData =
  | string
  | number
  | boolean
  | null
  | undefined
  | Uint8Array
  | readonly PlainData[]
  | { readonly [key: string]: PlainData };

export type Failure = {
  readonly error: unknown;
  /** The smallest input that still fails, as `saveInput` writes it. */
  readonly input: unknown;
};

export type Property = {
  readonly name: string;
  /** How many inputs the short run draws. */
  readonly shortRuns: number;
  /** Draws and checks inputs until one fails. The same seed draws the same inputs. */
  readonly explore: (seed: number, runs: number) => Failure | undefined;
  /** Checks one saved input. Throws where the law does not hold for it. */
  readonly replay: (input: unknown) => void;
};

/** All laws together take a few seconds. */
const SHORT_RUNS = 200;

export function property<Input extends PlainData>(
  name: string,
  inputs: fc.Arbitrary<Input>,
  check: (input: Input) => void,
  shortRuns = SHORT_RUNS,
): Property {
  return {
    name,
    shortRuns,
    explore(seed, runs) {
      const details = fc.check(fc.property(inputs, check), { seed, numRuns: runs });
      if (details.counterexample === null) return undefined;
      return { error: details.errorInstance, input: saveInput(details.counterexample[0]) };
    },
    replay: (input) => check(loadInput(input) as Input),
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes become `{utf8}` where they are text and `{base64}` elsewhere. */
function saveInput(value: PlainData): unknown {
  if (value instanceof Uint8Array) return saveBytes(value);
  if (Array.isArray(value)) return value.map(saveInput);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, saveInput(member)]));
}

function saveBytes(bytes: Uint8Array): object {
  try {
    return { utf8: decoder.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}

function loadInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(loadInput);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const [first] = members;
  if (members.length === 1 && first !== undefined && typeof first[1] === 'string') {
    if (first[0] === 'utf8') return encoder.encode(first[1]);
    if (first[0] === 'base64') return new Uint8Array(Buffer.from(first[1], 'base64'));
  }
  return Object.fromEntries(members.map(([key, member]) => [key, loadInput(member)]));
}
