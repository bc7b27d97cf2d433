// What scripts/test runs. `--quick`: the checks, the folders of QUICK with SQLite alone, and one
// black-box pass. Without it: the checks and every test. `--all`: also every sample, the slow tests
// and the long runs of COMMANDS. Given files, it runs only those. At the end it names the slow files;
// the last line is "N passed, N failed".

import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareServer } from '../test/support/postgres-database.ts';
import { findPostgres } from '../test/support/postgres-server.ts';
import type { Tier } from '../test/support/tier.ts';
import { type Outcome, report, runChecks, runCommand } from './check.ts';

type Counts = { passed: number; failed: number; skipped: number };

const root = resolve(import.meta.dir, '..');
const BUILD = [process.execPath, 'scripts/build.ts'];

const QUICK = [
  ...['catalog', 'core', 'fuzz', 'ledger', 'wire'].map((folder) => `test/${folder}/`),
  ...['test/tidy.test.ts', 'test/blackbox/formats.test.ts'],
];

/** Tests that start servers mostly wait, so that two cores run three files at a time. */
const WORKERS = Math.max(3, Math.ceil(navigator.hardwareConcurrency * 1.5));

/** Tests whose name ends so measure time: they run after the others, one file at a time. */
const QUIET = '.quiet.test.ts';

/** How long each file took, so that the next run starts the slowest first. */
const TIMINGS = resolve(root, '.tools/test-timings.json');

/** A file that takes longer than this is named at the end of the output. */
const SLOW_MS = 20_000;

/** What the tier `all` runs besides tests: each counts as one. */
const COMMANDS: readonly (readonly string[])[] = [
  ['scripts/mutation'],
  ['scripts/release', '--commit', '--twice', '--check'],
  ['scripts/openapi'],
  ['scripts/fuzz', '--seconds', '300'],
  ['scripts/sim'],
  ['scripts/sim', '--cluster'],
  ['scripts/crash'],
  ['scripts/crash', '--nodes', '3', '--rounds', '20'],
];

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  },
});
const tier: Tier = options.quick ? 'quick' : options.all ? 'all' : 'default';
const counts: Counts = { passed: 0, failed: 0, skipped: 0 };

if (paths.length === 0) for (const outcome of await runChecks()) count(outcome);
count(await runCommand('build', BUILD));
const files = paths.length === 0 ? await testFiles() : paths;
await runAll(files);
if (tier === 'all' && paths.length === 0) {
  for (const command of COMMANDS) count(await runCommand(command.join(' '), command));
}

await reportSlowFiles(files);
const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
process.exit(counts.failed === 0 ? 0 : 1);

function count(outcome: Outcome): void {
  report(outcome);
  counts[outcome.passed ? 'passed' : 'failed'] += 1;
}

async function testFiles(): Promise<readonly string[]> {
  const found = await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan({ cwd: root }));
  const runs =
    tier === 'quick' ? (path: string) => QUICK.some((each) => path.startsWith(each)) : () => true;
  return found.filter(runs).sort();
}

/** Prints the files of this run, or of its folders, that took longer than `SLOW_MS`, slowest first. */
async function reportSlowFiles(ran: readonly string[]): Promise<void> {
  const timings = Bun.file(TIMINGS);
  if (!(await timings.exists())) return;
  const { files: times } = (await timings.json()) as { readonly files: Record<string, number> };
  const paths = ran.map((path) => relative(root, resolve(root, path)));
  const slow = Object.entries(times)
    .filter(([file, ms]) => ms > SLOW_MS && paths.some((path) => file.startsWith(path)))
    .sort(([, a], [, b]) => b - a);
  for (const [file, ms] of slow) process.stdout.write(`${(ms / 1_000).toFixed(1)} s ${file}\n`);
}

/** All of them share one PostgreSQL, in which each makes its own databases. */
async function runAll(files: readonly string[]): Promise<void> {
  const environment = { ...process.env, TOLLGATE_TEST_TIER: tier };
  if (tier !== 'quick' && findPostgres() !== undefined) {
    Object.assign(environment, { TOLLGATE_TEST_POSTGRES: await prepareServer() });
  }
  const { quiet = [], loud = [] } = Object.groupBy(files, (path) =>
    path.endsWith(QUIET) ? 'quiet' : 'loud',
  );
  await runTests(loud, WORKERS, environment);
  await runTests(quiet, 1, environment);
}

/**
 * Runs `bun test`, whose workers take one file after the other, passes on what it says as it goes,
 * and reads the counts from its closing lines, where a file that did not load and a worker that died
 * count as failed too. A run that died before them, or that failed without a failed test, is one
 * failure.
 */
async function runTests(
  files: readonly string[],
  workers: number,
  env: Record<string, string | undefined>,
): Promise<void> {
  if (files.length === 0) return;
  const options = [
    ...['--only-failures', '--timeout=30000', `--parallel=${workers}`],
    ...[`--timings=${TIMINGS}`, '--update-timings'],
  ];
  const child = Bun.spawn(
    [process.execPath, 'test', ...options, ...files.map((path) => resolve(root, path))],
    { cwd: root, env, stdin: 'ignore', stdout: 'inherit', stderr: 'pipe' },
  );
  let tail = '';
  const decoder = new TextDecoder();
  for await (const bytes of child.stderr) {
    process.stderr.write(bytes);
    tail = (tail + decoder.decode(bytes, { stream: true })).slice(-2_000);
  }
  const code = await child.exited;
  if (!/^Ran \d+ tests?/m.test(tail)) {
    counts.failed += 1;
    return;
  }
  const closing = tail.slice(Math.max(0, tail.lastIndexOf(' pass\n') - 12));
  const read = (word: string) =>
    Number(new RegExp(`^ +(\\d+) ${word}$`, 'm').exec(closing)?.[1] ?? 0);
  const failed = read('fail');
  counts.passed += read('pass');
  counts.failed += code !== 0 && failed === 0 ? 1 : failed;
  counts.skipped += read('skip') + read('todo');
}
