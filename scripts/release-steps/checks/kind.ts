// What the checks of a release share.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Release = {
  /** Where the files are. */
  readonly folder: string;
  readonly version: string;
};

export type Check = {
  readonly name: string;
  /** Throws where something is wrong; returns the reason where this machine cannot run it. */
  readonly run: (release: Release) => Promise<string | undefined>;
};

/** Why a check that needs these programs, or root, cannot run here. */
export function missing(programs: readonly string[], needsRoot = false): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'this is not a Linux on x64';
  if (needsRoot && process.getuid?.() !== 0) return 'it needs root';
  const absent = programs.filter((name) => Bun.which(name) === null);
  return absent.length === 0 ? undefined : `there is no ${absent.join(', no ')}`;
}

/** Runs `work` with a temporary folder, and removes it. */
export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-check-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type ServerOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly seconds?: number;
  readonly host?: string;
  /** The exit codes of a graceful stop. */
  readonly stopsWith?: readonly number[];
};

/**
 * Starts a server, waits until `/readyz` of the port answers 200, runs `work`, and stops the server by
 * SIGTERM, after which it must exit with code 0. Throws with its output otherwise.
 */
export async function whileServing(
  command: readonly string[],
  port: number,
  { seconds = 60, host = '127.0.0.1', stopsWith = [0], ...options }: ServerOptions,
  work: () => Promise<void>,
): Promise<void> {
  const child = Bun.spawn([...command], {
    ...options,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const output = Promise.all([child.stdout.text(), child.stderr.text()]);
  try {
    const deadline = performance.now() + seconds * 1_000;
    while (!(await answers(host, port)) && child.exitCode === null) {
      if (performance.now() > deadline) throw new Error(`no /readyz within ${seconds} s`);
      await Bun.sleep(50);
    }
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    await work();
    child.kill('SIGTERM');
    if (!stopsWith.includes(await child.exited))
      throw new Error(`it stopped with ${child.exitCode}`);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${command.slice(0, 3).join(' ')}: ${error}\n${(await output).join('')}`);
  }
}

/** One charged answer of the demonstration model. */
export async function buy(port: number, key: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const text = await answer.text();
  const charge = Number(answer.headers.get('x-svc-tokens-debited'));
  if (answer.status !== 200 || !(charge > 0)) {
    throw new Error(`a request got ${answer.status}: ${text}`);
  }
}

async function answers(host: string, port: number): Promise<boolean> {
  return fetch(`http://${host}:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The program restarts itself without it, which QEMU cannot do (src/server/runtime.ts). */
export const WITHOUT_RESTART = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' };
