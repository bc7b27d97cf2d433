// `tollgate selftest`: proves on the operator's own machine what the documentation promises, with a
// second gateway in a folder of its own. The data of the operator is not opened.

import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { isExecutable, ownCommand } from '../server/runtime.ts';
import { VERSION } from '../version.ts';
import { type Check, checkOf } from './check.ts';
import { checkBackup, checkCrashes } from './crashes.ts';
import { checkFormats } from './formats.ts';
import { checkOverhead, measureOverhead, type Overhead } from './overhead.ts';
import { CREDIT, openScratch, type Scratch } from './scratch.ts';

export type SelfTest = {
  readonly ok: boolean;
  readonly version: string;
  /** SHA-256 of the executable; of the runtime where the source runs. */
  readonly checksum: string;
  readonly isExecutable: boolean;
  readonly machine: string;
  readonly startedAt: string;
  readonly seconds: number;
  readonly checks: readonly Check[];
  /** Absent where an earlier check failed to run. */
  readonly overhead: Overhead | undefined;
};

export type SelfTestOptions = {
  /** Kills under load. */
  readonly rounds: number;
  readonly random: () => number;
  /** What is tested; by default this program. */
  readonly command?: readonly string[];
  /** Called with each group of checks as it ends. */
  readonly onChecks: (checks: readonly Check[]) => void;
};

export async function selfTest(options: SelfTestOptions): Promise<SelfTest> {
  const startedAt = Date.now();
  const [load = 0] = loadavg();
  const checks: Check[] = [];
  let overhead: Overhead | undefined;
  const add = (group: readonly Check[]): void => {
    checks.push(...group);
    options.onChecks(group);
  };
  /** A group that cannot run is a check that fails, and the others run all the same. */
  const run = async (name: string, work: () => Promise<readonly Check[]>): Promise<void> => {
    const failed = (error: unknown): readonly Check[] => [checkOf(name, [String(error)], '')];
    add(await work().catch(failed));
  };
  await run('scratch gateway', async () => {
    const scratch = await openScratch(options.command ?? ownCommand());
    try {
      const keys = {
        rich: await scratch.createAccount('rich@example.com', CREDIT),
        // Less than the smallest hold.
        poor: await scratch.createAccount('poor@example.com', 0.5),
      };
      await run('formats', () => formats(scratch, keys));
      await run('crashes', () => checkCrashes(scratch, { ...options, key: keys.rich }));
      await run('backup', () => checkBackup(scratch, { ...options, key: keys.rich }));
      await run('overhead', async () => {
        overhead = await compare(scratch, scratch.upstream.url, keys.rich);
        return checkOverhead(overhead);
      });
    } finally {
      await scratch.close();
    }
    return [];
  });
  return {
    ok: checks.every(({ ok }) => ok),
    version: VERSION,
    checksum: await checksumOf(process.execPath),
    isExecutable: isExecutable(),
    machine: `${machineName()}, load ${load.toFixed(1)} before the run`,
    startedAt: new Date(startedAt).toISOString(),
    seconds: Math.round((Date.now() - startedAt) / 1_000),
    checks,
    overhead,
  };
}

type Keys = { readonly rich: string; readonly poor: string };

async function formats(scratch: Scratch, keys: Keys): Promise<readonly Check[]> {
  const gateway = await scratch.start();
  const [rich, poor] = [keys.rich, keys.poor].map((key) => scratch.callerOf(gateway, key));
  if (rich === undefined || poor === undefined) return [];
  const checks = await checkFormats(rich, poor);
  await gateway.kill();
  return checks;
}

async function compare(scratch: Scratch, upstream: string, key: string): Promise<Overhead> {
  const forwarder = await scratch.startPart('forwarder', `${upstream}/v1/chat/completions`);
  const gateway = await scratch.start();
  const overhead = await measureOverhead({
    direct: { url: upstream, key },
    forwarder: { url: forwarder.url, key },
    gateway: scratch.callerOf(gateway, key),
  });
  await Promise.all([forwarder.kill(), gateway.kill()]);
  return overhead;
}

async function checksumOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256');
  for await (const bytes of Bun.file(path).stream()) hash.update(bytes);
  return hash.digest('hex');
}

function machineName(): string {
  const cores = cpus();
  const gigabytes = (totalmem() / 2 ** 30).toFixed(1);
  return `${cores.length} × ${cores[0]?.model.trim() ?? 'unknown'}, ${gigabytes} GiB, ${type()} ${release()} ${process.arch}`;
}
