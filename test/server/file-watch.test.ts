// What counts as a change of a file, with real files; the test triggers each poll.

import { expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createFileWatch } from '../../src/server/file-watch.ts';
import { temporaryDirectory } from '../support/database.ts';

const root = temporaryDirectory();

/** A file with a watch on it. `looks` are the next answers, as many as are asked for. */
function watched() {
  const directory = join(root, crypto.randomUUID());
  mkdirSync(directory);
  const path = join(directory, 'catalog.toml');
  writeFileSync(path, 'one');
  // Long ago: two writes within one tick of the file system's clock look the same.
  utimesSync(path, 1_000, 1_000);
  const watch = createFileWatch(() => [path]);
  const looks = (count: number) => Array.from({ length: count }, () => watch.hasChanged());
  return { directory, path, watch, looks };
}

const CHANGES: Record<string, (path: string, directory: string) => void> = {
  'another text': (path) => writeFileSync(path, 'something else'),
  'another text of the same length': (path) => writeFileSync(path, 'two'),
  'an editor that renames': (path, directory) => {
    const beside = join(directory, '.new');
    writeFileSync(beside, 'two');
    renameSync(beside, path);
  },
  'a file that is gone': (path) => rmSync(path),
};

test.each(Object.entries(CHANGES))('%s is reported once, one look after it', (_name, change) => {
  const { path, directory, looks } = watched();
  expect(looks(2)).toEqual([false, false]);
  change(path, directory);
  expect(looks(4)).toEqual([false, true, false, false]);
});

test('a file that appears, and one that goes and comes back as it was', () => {
  const { path, looks } = watched();
  rmSync(path);
  expect(looks(2)).toEqual([false, true]);
  writeFileSync(path, 'one');
  expect(looks(3)).toEqual([false, true, false]);
});

test('a file that is still being written waits until it rests', () => {
  const { path, looks } = watched();
  for (let piece = 0; piece < 5; piece += 1) {
    appendFileSync(path, 'more');
    expect(looks(1)).toEqual([false]);
  }
  expect(looks(2)).toEqual([true, false]);
});

test('a directory of links that is swapped as a whole, as a mounted configuration is', () => {
  const directory = join(root, crypto.randomUUID());
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(directory, version), { recursive: true });
    const file = join(directory, version, 'catalog.toml');
    writeFileSync(file, 'same');
    // The same text, size and times: only the file is another one.
    utimesSync(file, 1_000, 1_000);
  }
  symlinkSync('v1', join(directory, '..data'));
  const path = join(directory, 'catalog.toml');
  symlinkSync('..data/catalog.toml', path);
  const watch = createFileWatch(() => [path]);
  symlinkSync('v2', join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  const looks = Array.from({ length: 3 }, () => watch.hasChanged());
  expect(looks).toEqual([false, true, false]);
});

test('what is read by hand is not reported again', () => {
  const { path, watch, looks } = watched();
  writeFileSync(path, 'two and more');
  watch.settle();
  expect(looks(3)).toEqual([false, false, false]);
});

test('of several files each counts', () => {
  const { path, directory } = watched();
  const other = join(directory, '.env');
  const watch = createFileWatch(() => [path, other]);
  writeFileSync(other, 'KEY=1');
  expect([watch.hasChanged(), watch.hasChanged()]).toEqual([false, true]);
});
