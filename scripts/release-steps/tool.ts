// Runs the tools of others.

import { type ProgramOptions, runProgram } from '../../test/support/program.ts';

/** Runs a command and returns what it printed. Throws with all that it said where it fails. */
export async function runTool(
  command: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, options);
  if (code !== 0) {
    throw new Error(`${command.slice(0, 3).join(' ')} ended with ${code}: ${stderr}${stdout}`);
  }
  return stdout;
}
