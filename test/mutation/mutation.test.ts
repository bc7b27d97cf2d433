// The mutants fit the tree: the code of each is found once, and its tests exist. scripts/mutation
// applies them and expects the tests to fail, which is too slow for here.

import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MUTANTS } from './all.ts';
import { readTree } from './mutant.ts';
import { createSource } from './source.ts';

const root = resolve(import.meta.dir, '../..');
const tree = await readTree(root);

test.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
  '%s can be applied, and its tests are there',
  async (_id, mutant) => {
    expect((await tree.apply(mutant)).size).toBeGreaterThan(0);
    expect(mutant.tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(mutant.tests.length).toBeGreaterThan(0);
  },
);

test('no two mutants have one id', () => {
  expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length);
});

describe('code is found', () => {
  const source = createSource(`
    const first = (a: number): boolean => /["'\`]/.test(\`\${a}\`) || a > 1; // a > 1
    export function second(a: number): number {
      return first(
        a, // the limit
      ) ? a : 2;
    }
    const rest = { third(a: number) { return a > 1; }, };
  `);
  const count = (name: string, find: string): number =>
    source.replace({ in: name, find, put: '' }).length;

  test('in the declaration that is named, and in no other', () => {
    expect(['first', 'second', 'third', 'fourth'].map((name) => count(name, 'a > 1'))).toEqual([
      1, 0, 1, 0,
    ]);
  });

  test('however it is formatted', () => {
    expect(count('second', 'first(a) ? a : 2')).toBe(1);
  });
});
