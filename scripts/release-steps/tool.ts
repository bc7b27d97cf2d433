// Runs the tools of others.

type ToolOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
};

/** Runs a command and returns what it printed. Throws with all that it said where it fails. */
export async function runTool(
  command: readonly string[],
  options: ToolOptions = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    ...options,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code !== 0) {
    throw new Error(`${command.slice(0, 3).join(' ')} ended with ${code}: ${stderr}${stdout}`);
  }
  return stdout;
}
