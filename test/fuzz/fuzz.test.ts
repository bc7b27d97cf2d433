// The short run of the fuzzers: a fixed set of inputs for every law, and every input that failed
// once. scripts/fuzz is the long run.

import { describe, expect, test } from 'bun:test';
import { foundInputs } from './found.ts';
import { PROPERTIES } from './properties.ts';

const SEED = 20_261_121;

describe('some inputs', () => {
  for (const property of PROPERTIES) {
    test(property.name, () => {
      const failure = property.explore(SEED, property.shortRuns);
      if (failure === undefined) return;
      const input = JSON.stringify(failure.input);
      throw new Error(`this input fails: ${input}`, { cause: failure.error });
    });
  }
});

describe('inputs that failed once', () => {
  for (const { file, name, input } of foundInputs()) {
    test(`${file}: ${name}`, () => {
      const property = PROPERTIES.find((property) => property.name === name);
      if (property === undefined) throw new Error(`${file} names no law that there is`);
      property.replay(input);
    });
  }
});

describe('what failed once', () => {
  test('is kept with the name of its law', () => {
    expect(foundInputs().length).toBeGreaterThan(0);
  });
});
