// Runs a program to its end.

export type ProgramOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What it reads; nothing by default. */
  readonly stdin?: Blob;
};

export type ProgramResult = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs a program, and returns its output and exit code. */
export async function runProgram(
  command: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    ...options,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
