// Runs one agent once, with its own home, working folder, environment and time limit. Kills every
// process that the agent started. Called by run.ts.

import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { baseEnvironment, type Launch } from './agents.ts';

export type Folders = { readonly home: string; readonly directory: string };

export type Ran = {
  /** Absent: it had to be killed when its time was over. */
  readonly code?: number;
  readonly output: string;
  readonly seconds: number;
};

/** A new home and, in it, a new working folder with these files. */
export async function makeFolders(files: Readonly<Record<string, string>>): Promise<Folders> {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-agent-'));
  const directory = join(home, 'project');
  await mkdir(directory);
  await writeFiles(directory, files);
  return { home, directory };
}

export async function launch(folders: Folders, what: Launch, limitMs: number): Promise<Ran> {
  await writeFiles(folders.home, what.files ?? {});
  const environment = { ...baseEnvironment(folders.home), ...what.environment };
  if (what.before !== undefined) {
    const before = await runCommand(folders, what.before, environment, limitMs);
    if (before.code !== 0) return before;
  }
  return runCommand(folders, what.command, environment, limitMs);
}

async function runCommand(
  { home, directory }: Folders,
  command: readonly string[],
  environment: Record<string, string>,
  limitMs: number,
): Promise<Ran> {
  const startedAt = performance.now();
  // A file and not a pipe: a process that the agent leaves running cannot delay us.
  const outputPath = join(home, `output-${startedAt}.log`);
  const outputFile = openSync(outputPath, 'w');
  const child = Bun.spawn([...command], {
    cwd: directory,
    env: environment,
    stdin: 'ignore',
    stdout: outputFile,
    stderr: outputFile,
    // A process group of its own, so that it can be ended with all that it has started.
    detached: true,
  });
  closeSync(outputFile);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killGroup(child.pid);
  }, limitMs);
  const code = await child.exited;
  clearTimeout(timer);
  killGroup(child.pid);
  return {
    ...(late ? {} : { code }),
    output: await Bun.file(outputPath).text(),
    seconds: (performance.now() - startedAt) / 1_000,
  };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await Bun.write(join(folder, path), text);
  }
}
