// Runs the command line as a child process in a directory of its own, as an operator would.

import { gatewayCommand } from '../support/gateway.ts';
import { runProgram } from '../support/program.ts';

export type Run = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
};

export type Tollgate = {
  /** Runs one command and waits for its end. */
  readonly run: (...args: string[]) => Promise<Run>;
  /** The same, with a text on its standard input. */
  readonly feed: (stdin: string, ...args: string[]) => Promise<Run>;
  /** The JSON document that a command prints; fails the test when it did not succeed. */
  readonly json: (...args: string[]) => Promise<Record<string, unknown>>;
  /** The exit code and the error code of a command that is refused. */
  readonly refusal: (...args: string[]) => Promise<readonly [number, unknown]>;
};

/** `environment` is all that the child sees of settings; nothing of this process leaks in. */
export function createTollgate(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Tollgate {
  async function feed(stdin: string, ...args: string[]): Promise<Run> {
    const env = { PORT: '0', ...environment };
    const options = { cwd: directory, env, stdin: new Blob([stdin]) };
    const { code: exitCode, ...said } = await runProgram([...gatewayCommand(), ...args], options);
    return { exitCode, ...said };
  }
  const run = (...args: string[]): Promise<Run> => feed('', ...args);
  return {
    ...{ run, feed },
    async json(...args) {
      const { exitCode, stdout, stderr } = await run(...args, '--json');
      if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout);
    },
    async refusal(...args) {
      const { exitCode, stdout, stderr } = await run(...args, '--json');
      if (stdout !== '') throw new Error(`a refusal printed to standard output: ${stdout}`);
      return [exitCode, JSON.parse(stderr).error.code];
    },
  };
}
