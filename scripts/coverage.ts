// Runs the tests of core, ledger and limits with branch coverage and compares the missed branches
// with coverage-gaps.ts. Exits with 1 when a missed branch is not listed or a listed one is taken.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { GAPS } from './coverage-gaps.ts';
import { say } from './say.ts';

const root = resolve(import.meta.dir, '..');

/** What drives the three folders in the process of the tests. */
const TESTS = ['core', 'ledger', 'limits', 'sim', 'generate', 'catalog', 'wire', 'upstream'];

type Place = { readonly start: { readonly line?: number } };
type FileCounts = {
  readonly path: string;
  readonly b: Readonly<Record<string, readonly number[]>>;
  readonly branchMap: Readonly<
    Record<string, { readonly loc: Place; readonly locations: readonly Place[] }>
  >;
};
type Branch = { readonly file: string; readonly line: number; readonly code: string };

const directory = mkdtempSync(join(tmpdir(), 'tollgate-coverage-'));
process.exitCode = await main().finally(() => rmSync(directory, { recursive: true }));

async function main(): Promise<number> {
  const file = join(directory, 'counts.json');
  const paths = TESTS.map((each) => `test/${each}`);
  const preload = join(import.meta.dir, 'coverage-preload.ts');
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--only-failures',
      '--timeout=120000',
      '--preload',
      preload,
      ...paths,
    ],
    {
      cwd: root,
      env: { ...process.env, COVERAGE_FILE: file },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if ((await child.exited) !== 0) return 1;
  const counts = Object.values(
    JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, FileCounts>>,
  );
  const branches = counts.flatMap(({ b }) => Object.values(b).flat());
  const missed = counts.flatMap(missedIn);
  const isGap = ({ file: path, code }: Branch) =>
    GAPS.some((gap) => gap.file === path && code.includes(gap.code));
  const unexplained = missed.filter((branch) => !isGap(branch));
  const unneeded = GAPS.filter(
    (gap) => !missed.some(({ file: path, code }) => path === gap.file && code.includes(gap.code)),
  );
  for (const { file: path, line, code } of unexplained) say(`not taken: ${path}:${line} ${code}`);
  for (const { file: path, code } of unneeded) say(`taken all the same: ${path}: ${code}`);
  const taken = branches.length - missed.length;
  say(
    `${taken} of ${branches.length} branches taken, ${missed.length - unexplained.length} others explained`,
  );
  return unexplained.length + unneeded.length === 0 ? 0 : 1;
}

function missedIn({ path, b, branchMap }: FileCounts): Branch[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return Object.entries(b).flatMap(([id, taken]) =>
    taken.flatMap((count, index) => {
      if (count > 0) return [];
      const branch = branchMap[id];
      const line = branch?.locations[index]?.start.line ?? branch?.loc.start.line ?? 0;
      return [{ file: relative(root, path), line, code: lines[line - 1]?.trim() ?? '' }];
    }),
  );
}
