// Reloads of the catalog and the .env file of a running server: with any content the server
// continues, and reports why it rejects a file.

import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { createContext } from '../../src/cli/context.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { createCatalogFile } from '../../src/server/catalog-file.ts';
import { temporaryDirectory } from '../support/database.ts';
import { thrownBy } from '../support/thrown.ts';

const root = temporaryDirectory();

/** What a server has read at its start, in a folder of its own, and how it reads that again. */
function start() {
  const directory = join(root, randomUUID());
  mkdirSync(directory);
  const paths = { catalog: join(directory, 'catalog.toml'), env: join(directory, '.env') };
  writeFileSync(paths.catalog, DEMO_CATALOG);
  writeFileSync(paths.env, 'NAME=value\n');
  const context = createContext({}, directory);
  let pipesRead = 0;
  const file = createCatalogFile({
    ...context,
    readEnvironment() {
      // To read a pipe without a writer would hold the test up for ever.
      if (Bun.spawnSync(['test', '-p', paths.env]).exitCode !== 0) return context.readEnvironment();
      pipesRead += 1;
      return { variables: {}, namesInFile: [] };
    },
  });
  return { paths, read: file.read, pipesRead: () => pipesRead };
}

/** The problems for which it is refused. */
const refusalOf = (read: () => unknown): readonly string[] =>
  (thrownBy(CatalogError, read)?.problems ?? []).map(wordsOf);

test.each(['catalog', 'env'] as const)('a pipe in the place of the %s file is not read', (name) => {
  const { paths, read, pipesRead } = start();
  rmSync(paths[name]);
  Bun.spawnSync(['mkfifo', paths[name]]);
  expect(refusalOf(read)).toEqual([
    `${paths[name]} is not a file, so it cannot be read again. Restart the server.`,
  ]);
  expect(pipesRead()).toBe(0);
});

test.each(['catalog', 'env'] as const)('a link that leads to itself in its place: %s', (name) => {
  const { paths, read } = start();
  rmSync(paths[name]);
  symlinkSync(paths[name], paths[name]);
  expect(refusalOf(read)).toEqual([
    `${paths[name]} cannot be read. Check that it is a file and that its permissions allow it.`,
  ]);
});

test('no .env file, and one that is always empty, are both fine', () => {
  const { paths, read } = start();
  rmSync(paths.env);
  expect(refusalOf(read)).toEqual([]);
  symlinkSync('/dev/null', paths.env);
  expect(refusalOf(read)).toEqual([]);
});
