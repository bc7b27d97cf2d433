// The mutation tests: applies one mutant at a time to a copy of the repository and runs the tests
// that must catch it, first without the mutant and then with it. A mutant that does not compile, or
// whose tests fail without it, counts as not caught.

import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MUTANTS } from '../test/mutation/all.ts';
import { type Mutant, readTree } from '../test/mutation/mutant.ts';
import { say } from './say.ts';

const root = resolve(import.meta.dir, '..');

/** What the copy does without: it is large, rebuilt, or none of the program's business. */
const LEFT_OUT = ['.git', '.tools', 'data', 'dist', 'node_modules'];

/** A single test is slow on a busy machine; a mutant may make it wait for what never comes. */
const TEST_MS = 30_000;
const RUN_MS = 300_000;

/** `test` is the first that failed, with its file. */
type Run =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly test: string }
  | { readonly kind: 'broken'; readonly output: string };

/** `problem` says why a mutant was not caught. */
type Verdict = { readonly files: readonly string[] } & (
  | { readonly test: string }
  | { readonly problem: string }
);

const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const chosen = MUTANTS.filter(({ id }) => id.startsWith(options.only));
const copy = mkdtempSync(join(tmpdir(), 'tollgate-mutation-'));
// A PostgreSQL that a test starts in it runs as another user.
chmodSync(copy, 0o755);
const unchanged = new Map<string, Promise<Run>>();
const tree = await readTree(root);

process.exitCode = await main().finally(() => rmSync(copy, { recursive: true, force: true }));

async function main(): Promise<number> {
  if (chosen.length === 0) {
    say(`mutation: no mutant has an id that begins with ${options.only}`);
    return 2;
  }
  copyRepository();
  const wrong = await typeErrors();
  if (wrong !== undefined) {
    say(`mutation: src does not compile as it is\n${wrong}`);
    return 2;
  }
  const missed: string[] = [];
  say('| Mutant | In | Caught by |\n| --- | --- | --- |');
  for (const mutant of chosen) {
    const verdict = await tryMutant(mutant);
    if ('problem' in verdict) missed.push(mutant.id);
    say(row(mutant, verdict));
  }
  const caught = chosen.length - missed.length;
  say(`\n${caught} caught, ${missed.length} not caught${missed.map((id) => ` ${id}`).join('')}`);
  return missed.length === 0 ? 0 : 1;
}

function copyRepository(): void {
  cpSync(root, join(copy, 'tree'), {
    recursive: true,
    filter: (path) => !LEFT_OUT.some((name) => path === join(root, name)),
  });
  symlinkSync(join(root, 'node_modules'), join(copy, 'tree/node_modules'));
  const types = {
    extends: './tsconfig.json',
    compilerOptions: { incremental: true },
    include: ['src'],
  };
  writeFileSync(join(copy, 'tree/tsconfig.mutation.json'), JSON.stringify(types));
}

/** Applies the mutant, runs its tests, and puts the copy back as it was. */
async function tryMutant(mutant: Mutant): Promise<Verdict> {
  const changed = await tree.apply(mutant);
  const files = [...changed.keys()];
  const before = await (unchanged.get(selectionOf(mutant)) ?? runUnchanged(mutant));
  if (before.kind !== 'passed') {
    return { files, problem: `its tests fail without it: ${describe(before)}` };
  }
  const originals = files.map((file) => [file, readFileSync(inCopy(file), 'utf8')] as const);
  try {
    for (const [file, text] of changed) writeFileSync(inCopy(file), text);
    const wrong = await typeErrors();
    if (wrong !== undefined) return { files, problem: `it does not compile: ${wrong}` };
    const after = await runTests(mutant, true);
    return after.kind === 'failed'
      ? { files, test: after.test }
      : { files, problem: describe(after) };
  } finally {
    for (const [file, text] of originals) writeFileSync(inCopy(file), text);
  }
}

function inCopy(file: string): string {
  return join(copy, 'tree', file);
}

/** Once for each selection of tests, however many mutants have it. */
function runUnchanged(mutant: Mutant): Promise<Run> {
  const run = runTests(mutant, false);
  unchanged.set(selectionOf(mutant), run);
  return run;
}

function selectionOf({ tests, only }: Mutant): string {
  return JSON.stringify([tests, only]);
}

async function runTests({ tests, only }: Mutant, bail: boolean): Promise<Run> {
  const temporary = join(copy, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const args = ['test', `--timeout=${TEST_MS}`, ...(bail ? ['--bail'] : [])];
  if (only !== undefined) args.push('--test-name-pattern', only);
  const { code, output } = await runInCopy([...args, ...tests], {
    TOLLGATE_TEST_SOURCE: '1',
    // SQLite alone is enough to catch what is no matter of the database.
    TOLLGATE_TEST_TIER: 'quick',
    TMPDIR: temporary,
  });
  rmSync(temporary, { recursive: true, force: true });
  if (code === 0) return { kind: 'passed' };
  const test = firstFailure(output);
  return test === undefined ? { kind: 'broken', output } : { kind: 'failed', test };
}

/** What compiler errors say, on one line; undefined where there are none. */
async function typeErrors(): Promise<string | undefined> {
  const { code, output } = await runInCopy(
    ['run', '--bun', 'tsc', '-p', 'tsconfig.mutation.json'],
    {},
  );
  return code === 0 ? undefined : output.trim().replaceAll('\n', ' ');
}

/** In a group of its own, so that nothing which a cut run has started outlives it. */
async function runInCopy(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: join(copy, 'tree'),
    env: { ...process.env, ...environment, NO_COLOR: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  });
  const timer = setTimeout(() => endGroup(child.pid), RUN_MS);
  const code = await child.exited;
  clearTimeout(timer);
  endGroup(child.pid);
  const output = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code, output: output.join('') };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

/** The name of the first test that failed, and its file. */
function firstFailure(output: string): string | undefined {
  let file = '';
  for (const line of output.split('\n')) {
    file = /^(\S+\.test\.ts):$/.exec(line)?.[1] ?? file;
    const name = /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/.exec(line)?.[1];
    if (name !== undefined)
      return `\`${file.replace(/^test\//, '')}\`: ${name.replaceAll('|', '\\|')}`;
  }
  return undefined;
}

function describe(run: Run): string {
  if (run.kind === 'passed') return 'all its tests pass';
  return run.kind === 'failed' ? run.test : `no test failed by itself: ${run.output.slice(-500)}`;
}

function row({ id, does }: Mutant, verdict: Verdict): string {
  const files = verdict.files.map((file) => `\`${file.replace(/^src\//, '')}\``);
  const caught = 'test' in verdict ? verdict.test : `**NOT CAUGHT**: ${verdict.problem}`;
  return `| ${id}: ${does} | ${files.join(', ')} | ${caught.replaceAll('\n', ' ')} |`;
}
