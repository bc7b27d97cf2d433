// Checks format, lint, types and unused code. `bun run check` runs only these; scripts/test runs
// them first and counts each as one test.

import { resolve } from 'node:path';
import { runProgram } from '../test/support/program.ts';

const root = resolve(import.meta.dir, '..');

/** The commands run under this Bun, so that no Node is needed. */
const CHECKS = [
  { name: 'format and lint', command: ['biome', 'check', '.'] },
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'types of the pages', command: ['tsc', '--noEmit', '-p', 'src/web'] },
  { name: 'unused code and packages', command: ['knip'] },
] as const;

/** How one check or one test file ended. `output` is what a person needs to see, if anything. */
export type Outcome = {
  readonly name: string;
  readonly passed: boolean;
  readonly output: string;
};

/** Runs all checks, one after the other: each of them already uses every core. */
export async function runChecks(): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { name, command } of CHECKS) {
    outcomes.push(await runCommand(name, [process.execPath, 'run', '--bun', ...command]));
  }
  return outcomes;
}

/** Runs one command in the repository and keeps what it says. */
export async function runCommand(name: string, command: readonly string[]): Promise<Outcome> {
  const { code, stdout, stderr } = await runProgram(command, { cwd: root });
  return { name, passed: code === 0, output: `${stdout}${stderr}`.trim() };
}

/** Prints one line a check, and everything that a failed one said. */
export function report(outcome: Outcome): void {
  process.stdout.write(`${outcome.passed ? 'ok  ' : 'FAIL'} ${outcome.name}\n`);
  if (!outcome.passed) process.stdout.write(`${outcome.output}\n`);
}

if (import.meta.main) {
  const outcomes = await runChecks();
  for (const outcome of outcomes) report(outcome);
  process.exitCode = outcomes.every((outcome) => outcome.passed) ? 0 : 1;
}
