// What scripts/test runs: the checks, the build, then `bun test`, whose counts it
// reads. Given files, it runs only those. The last line is "N passed, N failed".

import { resolve } from 'node:path';
import { report, runChecks, runCommand } from './check.ts';

type Counts = { passed: number; failed: number; skipped: number };

const root = resolve(import.meta.dir, '..');
const files = process.argv.slice(2);
const counts: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Files that are about SQLite's file, or open no database; others name their own exceptions. */
const NOT_ON_POSTGRES: Readonly<Record<string, string>> = {
  'test/ledger/process.test.ts': 'processes that share a file',
  'test/ledger/thread.test.ts': 'a thread over a file that is locked, full or damaged',
  'test/ledger/linked.test.ts': 'threads that share a file',
  'test/ledger/nodes.test.ts': 'runs on PostgreSQL already',
  'test/ledger/error.test.ts': 'opens no database',
  'test/ledger/pauses.test.ts': 'opens no database',
  'test/ledger/series/upgrade.test.ts': 'a migration of SQLite',
};

/** The tests that open their database as `newDatabase` does, some of them by way of a rig. */
const OPENS =
  /support\/(database|ledger|usage|accounts)\.ts'|\/(rig|parts|contract|customer-app|console|machine-console)\.ts'/;

/** The same for whole gateways; those of `security` look into the file. */
const SERVED = ['test/dashboard/auth.test.ts', 'test/dashboard/flows.test.ts'];

/** The folders of the tests that open their database so. */
const TWICE =
  /^test\/(?:catalog|dashboard\/(?:customer|operator)|identity|ledger|operations|reasoning)\//;

/** Tests of one process; those of the connection client measure time, and want less company. */
const WITHIN =
  /^test\/(?:catalog|cluster|core|fuzz|identity|ledger|limits|operations|reasoning|sim|store|wire)\//;

if (files.length === 0) {
  for (const outcome of await runChecks()) countOutcome(outcome);
}
countOutcome(await runCommand('build', [process.execPath, 'scripts/build.ts']));
if (files.length > 0) {
  addTo(counts, await runTests(files));
} else {
  // Tests that start servers mostly wait, so the others run beside them.
  const { within, apart } = await allTests();
  const both = await Promise.all([runTests(apart), runWithin(within)]);
  for (const part of both) addTo(counts, part);
}

const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function countOutcome(outcome: Awaited<ReturnType<typeof runCommand>>): void {
  report(outcome);
  addTo(counts, { passed: outcome.passed ? 1 : 0, failed: outcome.passed ? 0 : 1, skipped: 0 });
}

function addTo(sum: Counts, part: Counts): void {
  sum.passed += part.passed;
  sum.failed += part.failed;
  sum.skipped += part.skipped;
}

async function testFiles(): Promise<readonly string[]> {
  const found = await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan({ cwd: root }));
  return found.sort();
}

async function allTests(): Promise<Record<'within' | 'apart', readonly string[]>> {
  const { within = [], apart = [] } = Object.groupBy(await testFiles(), (path) =>
    WITHIN.test(path) ? 'within' : 'apart',
  );
  return { within, apart };
}

/** Those of the domains and of the JSON of the pages once more, on PostgreSQL. */
async function runWithin(paths: readonly string[]): Promise<Counts> {
  const all = await runTests(paths);
  process.stderr.write('\nThe domains and what pages are told, once more, on PostgreSQL:\n');
  addTo(all, await runTests(await onPostgres(), { TOLLGATE_TEST_DATABASE: 'postgres' }));
  return all;
}

async function onPostgres(): Promise<readonly string[]> {
  const found = (await testFiles()).filter((path) => TWICE.test(path));
  const texts = await Promise.all(found.map((path) => Bun.file(resolve(root, path)).text()));
  const opening = found.filter(
    (path, at) => !(path in NOT_ON_POSTGRES) && OPENS.test(texts[at] ?? ''),
  );
  return [...opening, ...SERVED];
}

/**
 * Runs `bun test`, passes on what it says as it goes, and reads the counts from its closing lines,
 * where a file that did not load counts as failed too. A run that died before them, or that failed
 * without a failed test, is one failure.
 */
async function runTests(
  paths: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Counts> {
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--only-failures',
      '--timeout=30000',
      ...paths.map((path) => resolve(root, path)),
    ],
    {
      cwd: root,
      env: { ...process.env, ...variables },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'pipe',
    },
  );
  let tail = '';
  const decoder = new TextDecoder();
  for await (const bytes of child.stderr) {
    process.stderr.write(bytes);
    tail = (tail + decoder.decode(bytes, { stream: true })).slice(-2_000);
  }
  const code = await child.exited;
  if (!/^Ran \d+ tests?/m.test(tail)) return { passed: 0, failed: 1, skipped: 0 };
  const closing = tail.slice(Math.max(0, tail.lastIndexOf(' pass\n') - 12));
  const read = (word: string) =>
    Number(new RegExp(`^ +(\\d+) ${word}$`, 'm').exec(closing)?.[1] ?? 0);
  const failed = read('fail');
  return {
    passed: read('pass'),
    failed: code !== 0 && failed === 0 ? 1 : failed,
    skipped: read('skip') + read('todo'),
  };
}
