// The archives with one executable each.

import { join } from 'node:path';
import { freePort } from '../../../test/support/listen.ts';
import { runTool } from '../tool.ts';
import {
  type Check,
  inFolder,
  missing,
  type Release,
  WITHOUT_RESTART,
  whileServing,
} from './kind.ts';
import { verifySignature } from './mach-o.ts';

/** Debian's package of the C library for another architecture puts it there. */
const ARM_LIBRARIES = '/usr/aarch64-linux-gnu';

export const checkExecutables: readonly Check[] = [
  { name: 'the executable of linux-x64 serves', run: runNative },
  { name: 'the executable of linux-x64-baseline serves on a processor of 2008', run: runBaseline },
  { name: 'the executable of linux-arm64 serves, under QEMU', run: runEmulated },
  ...['macos-x64', 'macos-arm64'].map((target) => ({
    name: `the executable of ${target} is signed, and its digests are those of its pages`,
    run: (release: Release) => checkMac(release, target),
  })),
];

async function runNative(release: Release): Promise<string | undefined> {
  const reason = missing([]);
  if (reason === undefined) await serve(release, 'linux-x64', []);
  return reason;
}

/** Nehalem has SSE 4.2 and no AVX: an instruction of either AVX ends the process there. */
async function runBaseline(release: Release): Promise<string | undefined> {
  const reason = missing(['qemu-x86_64-static']);
  if (reason === undefined) {
    await serve(release, 'linux-x64-baseline', ['qemu-x86_64-static', '-cpu', 'Nehalem']);
  }
  return reason;
}

async function runEmulated(release: Release): Promise<string | undefined> {
  const reason = missing(['qemu-aarch64-static']);
  if (reason !== undefined) return reason;
  if (!(await Bun.file(join(ARM_LIBRARIES, 'lib/libc.so.6')).exists())) {
    return 'there is no C library for arm64: install libc6-arm64-cross';
  }
  await serve(release, 'linux-arm64', ['qemu-aarch64-static', '-L', ARM_LIBRARIES]);
  return undefined;
}

async function serve(release: Release, target: string, prefix: readonly string[]): Promise<void> {
  await inFolder(async (folder) => {
    const executable = await unpackExecutable(release, target, folder);
    const port = await freePort();
    const env = {
      ...{ PORT: String(port), HOME: folder, OPERATOR_PORT: 'off' },
      ...(prefix.length > 0 && WITHOUT_RESTART),
    };
    const command = [...prefix, executable];
    const version = await runTool([...command, '--version'], { cwd: folder, env });
    if (!version.startsWith(`${release.version}+`)) throw new Error(`its version is ${version}`);
    await whileServing([...command, 'serve'], port, { cwd: folder, env }, async () => {
      await runTool([...command, 'health', '--ready'], { cwd: folder, env });
      await runTool([...command, 'doctor'], { cwd: folder, env });
    });
  });
}

async function checkMac(release: Release, target: string): Promise<undefined> {
  await inFolder(async (folder) => {
    verifySignature(await Bun.file(await unpackExecutable(release, target, folder)).bytes());
  });
  return undefined;
}

/** Returns the path of the executable of `target`. */
export async function unpackExecutable(
  { folder, version }: Release,
  target: string,
  into: string,
): Promise<string> {
  const name = `tollgate-${version}-${target}`;
  await runTool(['tar', '-xzf', join(folder, `${name}.tar.gz`), '-C', into]);
  return join(into, name, 'tollgate');
}
