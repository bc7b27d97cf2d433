// Compressed files: they are new, for their owner alone, and whole or not there.

import { expect, test } from 'bun:test';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePacked } from '../../src/store/packed-file.ts';
import { temporaryDirectory } from '../support/database.ts';

const directory = temporaryDirectory();

async function* texts(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}

test('a text is packed, for its owner alone', async () => {
  const path = join(directory, 'text.gz');
  await writePacked(path, texts('one\n', 'zwei\n'));
  expect(new TextDecoder().decode(Bun.gunzipSync(readFileSync(path)))).toBe('one\nzwei\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file that is there is never overwritten, nor removed', async () => {
  const path = join(directory, 'mine');
  writeFileSync(path, 'mine');
  await expect(writePacked(path, texts('other'))).rejects.toThrow('EEXIST');
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

test('one that cannot be finished is removed', async () => {
  const path = join(directory, 'unfinished');
  async function* failing(): AsyncGenerator<string> {
    yield 'some';
    throw new Error('the database is gone');
  }
  await expect(writePacked(path, failing())).rejects.toThrow('the database is gone');
  expect(existsSync(path)).toBe(false);
});
