// The machines that a release is for. An executable is our program behind the Bun of its machine,
// which the npm package of the pinned version holds; its digest is pinned here.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from 'bun';
import { packageManager } from '../../package.json';
import { runTool } from './tool.ts';

export type Target = {
  /** As in the names of the files of a release. */
  readonly name: string;
  readonly system: 'linux' | 'macos';
  /** The architecture's name at Debian and at OCI, where the package and the image contain it. */
  readonly architecture?: 'amd64' | 'arm64';
  readonly compileTarget: Build.CompileTarget;
  readonly runtimePackage: string;
  /** As npm writes it: SHA-512 in base64. */
  readonly integrity: string;
};

/** The version of Bun whose digests follow. */
const PINNED_BUN = '1.4.5';

export const TARGETS: readonly Target[] = [
  {
    name: 'linux-x64',
    system: 'linux',
    architecture: 'amd64',
    compileTarget: 'bun-linux-x64',
    runtimePackage: '@oven/bun-linux-x64',
    integrity:
      'IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
  },
  {
    // For processors without AVX2.
    name: 'linux-x64-baseline',
    system: 'linux',
    compileTarget: 'bun-linux-x64-baseline',
    runtimePackage: '@oven/bun-linux-x64-baseline',
    integrity:
      's8yMwYcFnnrA178gji0gZbkE2WVDej/Ti1x770oPfihxyRxSMNhGhiAQNXV53aDeraZxksdvKV/RAdQBCd0qPA==',
  },
  {
    name: 'linux-arm64',
    system: 'linux',
    architecture: 'arm64',
    compileTarget: 'bun-linux-arm64',
    runtimePackage: '@oven/bun-linux-aarch64',
    integrity:
      '4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==',
  },
  {
    name: 'macos-x64',
    system: 'macos',
    compileTarget: 'bun-darwin-x64',
    runtimePackage: '@oven/bun-darwin-x64',
    integrity:
      'qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==',
  },
  {
    name: 'macos-arm64',
    system: 'macos',
    compileTarget: 'bun-darwin-arm64',
    runtimePackage: '@oven/bun-darwin-aarch64',
    integrity:
      '4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==',
  },
];

/** Whether the digests above are those of the Bun that package.json pins. */
export function pinsMatch(): boolean {
  return packageManager === `bun@${PINNED_BUN}`;
}

/** The Bun of `target`, from `cache` or fetched with npm into it. Throws where it is another one. */
export async function fetchRuntime(target: Target, cache: string): Promise<string> {
  if (!pinsMatch()) {
    throw new Error(
      `package.json pins ${packageManager}, and scripts/release-steps/targets.ts has the digests of Bun ${PINNED_BUN}. Update them together.`,
    );
  }
  const folder = join(cache, `${target.name}-${PINNED_BUN}`);
  const path = join(folder, 'package/bin/bun');
  // The folder was moved here as a whole, after its digest was right.
  if (await Bun.file(path).exists()) return path;
  const workshop = await mkdtemp(join(tmpdir(), 'tollgate-runtime-'));
  try {
    const spec = `${target.runtimePackage}@${PINNED_BUN}`;
    const packed = await runTool(['npm', 'pack', '--silent', spec], { cwd: workshop });
    const archive = join(workshop, packed.trim().split('\n').at(-1) ?? '');
    const digest = createHash('sha512')
      .update(await Bun.file(archive).bytes())
      .digest('base64');
    if (digest !== target.integrity) {
      throw new Error(`${spec} has the digest ${digest}; ${target.integrity} is pinned.`);
    }
    const unpacked = join(workshop, 'unpacked');
    await mkdir(unpacked);
    await runTool(['tar', '-xzf', archive, '-C', unpacked]);
    await mkdir(cache, { recursive: true });
    await runTool(['cp', '-r', unpacked, `${folder}.${process.pid}`]);
    await rename(`${folder}.${process.pid}`, folder);
    return path;
  } finally {
    await rm(workshop, { recursive: true });
  }
}
