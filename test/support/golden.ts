// Golden recordings: an input file beside the file of what must come out of it, or one file that
// holds both. With UPDATE_GOLDEN=1 what is expected is rewritten; read the difference before
// committing it.

import { expect } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..', 'golden');
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

export type Recording = {
  /** For a test's title: `case 89: tool index missing`. */
  readonly title: string;
  readonly bytes: Uint8Array;
  /** Holds lines of text against the expected file. */
  readonly expectLines: (lines: readonly string[]) => void;
  /** Holds a text against the recording itself, where one file has input and outcome. */
  readonly expectSelf: (text: string) => void;
};

/**
 * The recordings of a folder below `test/golden` whose input has this extension. A leading number
 * in a file's name is the number of a conformance case; `00` has none.
 */
export function recordings(folder: string, extension: string): Recording[] {
  const directory = join(ROOT, folder);
  const suffix = `.${extension}`;
  return readdirSync(directory)
    .filter((file) => file.endsWith(suffix))
    .sort()
    .map((file) => ({
      title: toTitle(file.slice(0, -suffix.length)),
      bytes: new Uint8Array(readFileSync(join(directory, file))),
      expectLines: (lines) => {
        expectFile(join(directory, `${file}.expected`), lines.map((line) => `${line}\n`).join(''));
      },
      expectSelf: (text) => expectFile(join(directory, file), text),
    }));
}

function toTitle(name: string): string {
  const [number = '', ...words] = name.split('-');
  const text = words.join(' ');
  return number === '00' ? text : `case ${number}: ${text}`;
}

function expectFile(path: string, actual: string): void {
  if (UPDATE) writeFileSync(path, actual);
  if (!existsSync(path)) throw new Error(`no expectation at ${path}; run with UPDATE_GOLDEN=1`);
  expect(actual).toBe(readFileSync(path, 'utf8'));
}
