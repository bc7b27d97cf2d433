// What a command loads: `tollgate --version` and every small command start fast because they load
// no part of a server. Follows static imports from the entry, as the bundle's start does.

import { expect, test } from 'bun:test';
import { dirname, resolve } from 'node:path';

const root = resolve(import.meta.dir, '../..');
const transpiler = new Bun.Transpiler({ loader: 'ts' });

/** Every file and package that `entry` imports statically, directly or not. */
async function closureOf(entry: string): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    if (!/\.tsx?$/.test(path)) continue;
    const { imports } = transpiler.scan(await Bun.file(resolve(root, path)).text());
    for (const { kind, path: specifier } of imports) {
      if (kind !== 'import-statement') continue;
      const isOwn = specifier.startsWith('.');
      open.push(isOwn ? resolve(root, dirname(path), specifier).slice(root.length + 1) : specifier);
    }
  }
  return seen;
}

/** What only a process that serves may load. */
const SERVING = /^(elysia|@elysiajs\/.*|src\/(http|generate|wire|dashboard\/edge)\/.*)$/;

test('a command that needs no server loads nothing of one', async () => {
  const closure = await closureOf('src/main.ts');
  expect([...closure].filter((path) => SERVING.test(path))).toEqual([]);
  const own = [...closure].filter((path) => path.startsWith('src/'));
  expect(own.length).toBeGreaterThan(100);
  expect(own.length).toBeLessThanOrEqual(286);
});

test('a server loads what a command must not', async () => {
  const closure = await closureOf('src/server/serve.ts');
  expect(closure).toContain('elysia');
  expect(closure).toContain('src/generate/generate.ts');
});
