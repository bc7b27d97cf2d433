// Every numbered case of the wire has a test that names its number: a recording whose file name
// starts with it, or a test whose title says `case 12: …` or `cases 12 and 13: …`.

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const CASES = 187;

/** Published coding agents are too big for every run: `scripts/agents` takes them through these. */
const AGENT_CASES = [181, 182, 183, 184, 185];

/** Titles stand at the start of a string, so that a remark about a case is not taken for its test. */
const TITLE = /['"`]cases? (\d+(?:(?:, | and |, and )\d+)*): /g;

function numberedTests(): Set<number> {
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' });
  const recorded = files
    .filter((file) => file.startsWith('golden/cases/'))
    .map((file) => Number.parseInt(file.slice(file.lastIndexOf('/') + 1), 10));
  const titled = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(TITLE)])
    .flatMap(([, numbers = '']) => numbers.split(/\D+/).map(Number));
  return new Set([...recorded, ...titled, ...AGENT_CASES]);
}

test('every case has a test that names its number', () => {
  const found = numberedTests();
  const missing = Array.from({ length: CASES }, (_, index) => index + 1).filter(
    (number) => !found.has(number),
  );
  expect(missing).toEqual([]);
});
