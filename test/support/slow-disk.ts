// A disk with slow syncs: a library preloaded into the server (`slow-disk.c`), compiled where the
// machine has a C compiler. It also reports what the main thread itself waited for.

import { describe } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './program.ts';

export type SlowDisk = {
  /** What a gateway has to be started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on every sync takes so much longer; 0 ends it. */
  readonly delay: (milliseconds: number) => Promise<void>;
  /** How often the main thread has synced a file, and slept, while syncs were slow. */
  readonly mainThread: () => { readonly syncs: number; readonly sleeps: number };
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/**
 * A group of tests on a slow disk. Without a C compiler, and beside Linux, they are skipped and say
 * so; where CI is true they fail there.
 */
export function describeWithSlowDisk(name: string, body: () => void): void {
  const missing = process.platform !== 'linux' || Bun.which('cc') === null;
  const skipped = missing && process.env['CI'] !== 'true';
  if (skipped) process.stderr.write(`skipped, as there is no C compiler for Linux: ${name}\n`);
  describe.skipIf(skipped)(name, body);
}

export async function openSlowDisk(): Promise<SlowDisk> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-slow-disk-'));
  const [library, control, log] = ['slow-disk.so', 'control', 'log'].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const source = join(import.meta.dir, 'slow-disk.c');
  const compiler = ['cc', '-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'];
  const { code, stderr } = await runProgram(compiler);
  if (code !== 0) throw new Error(`cc has failed: ${stderr}`);
  const count = (line: string): number =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter((each) => each === line).length
      : 0;
  return {
    environment: { LD_PRELOAD: library, SLOW_DISK_CONTROL: control, SLOW_DISK_LOG: log },
    async delay(milliseconds) {
      await Bun.write(control, String(milliseconds));
    },
    mainThread: () => ({ syncs: count('sync'), sleeps: count('sleep') }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
