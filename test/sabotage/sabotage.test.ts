// That the faults of test/sabotage still fit the tree: each text is found, once, and each test is
// there. scripts/sabotage plants them and wants the tests to fail, which takes too long for here.

import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FAULTS } from './all.ts';
import { plant } from './fault.ts';

const root = resolve(import.meta.dir, '../..');

test.each(FAULTS.map((fault) => [fault.id, fault] as const))(
  '%s can be planted, and its tests are there',
  (_id, { edits, tests }) => {
    const texts = new Map<string, string>();
    for (const edit of edits) {
      const text = texts.get(edit.file) ?? readFileSync(join(root, edit.file), 'utf8');
      const { count, planted } = plant(text, edit);
      expect({ edit, count }).toEqual({ edit, count: 1 });
      expect(planted).not.toBe(text);
      texts.set(edit.file, planted);
    }
    expect(edits.length).toBeGreaterThan(0);
    expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(tests.length).toBeGreaterThan(0);
  },
);

test('no two faults have one id', () => {
  expect(new Set(FAULTS.map(({ id }) => id)).size).toBe(FAULTS.length);
});
