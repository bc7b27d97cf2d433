// The contributors' guides stay short and name existing folders, files and packages.

import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dependencies } from '../../package.json';
import { ROOT, read } from './documents.ts';

test.each([
  ['README.md', 150],
  ['src/README.md', 160],
  ['test/README.md', 200],
])('%s has at most %d lines', (document, most) => {
  expect(read(document).trimEnd().split('\n').length).toBeLessThanOrEqual(most);
});

describe('src/README.md', () => {
  test('every file that a table names by itself exists in its folder', () => {
    const rows = read('src/README.md').matchAll(/^\| `(\w+)\/` +\| ([^|]*) \|/gm);
    const named = [...rows].flatMap(([, folder = '', text = '']) =>
      [...text.matchAll(/`([\w/-]+\.ts)`/g)].map((match) => `src/${folder}/${match[1]}`),
    );
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('every folder of src has its row', () => {
    const rows = [...read('src/README.md').matchAll(/^\| `(\w+)\/` +\|/gm)].map(
      (match) => match[1],
    );
    const folders = new Bun.Glob('*/*').scanSync({ cwd: join(ROOT, 'src') });
    expect(rows.toSorted()).toEqual([...new Set([...folders].map(dirname))].toSorted());
  });

  test('every runtime dependency has its reason', () => {
    const rows = [...read('src/README.md').matchAll(/^\| `([@\w/-]*\w)` +\| \S/gm)];
    const named = rows.map((match) => match[1]);
    expect(named.toSorted()).toEqual(Object.keys(dependencies).toSorted());
  });
});
