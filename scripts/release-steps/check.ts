// Checks a finished release: installs each artefact as its user would, as far as this machine can, and
// runs it. A check that cannot run here is skipped with its reason, and never counts as passed.

import { join } from 'node:path';
import { checkCluster } from './checks/cluster.ts';
import { checkDebianPackage } from './checks/debian.ts';
import { checkExecutables } from './checks/executables.ts';
import { checkImage } from './checks/image.ts';
import type { Check, Release } from './checks/kind.ts';
import { runTool } from './tool.ts';

const CHECKS: readonly Check[] = [
  { name: 'checksums', run: checkSums },
  ...checkExecutables,
  ...checkDebianPackage,
  ...checkImage,
  ...checkCluster,
];

/** Prints one line a check and a sum; true where none failed. */
export async function checkRelease(folder: string, version: string): Promise<boolean> {
  const release = { folder, version };
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, run } of CHECKS) {
    try {
      const skipped = await run(release);
      counts[skipped === undefined ? 'passed' : 'skipped'] += 1;
      process.stdout.write(skipped === undefined ? `ok   ${name}\n` : `skip ${name}: ${skipped}\n`);
    } catch (error) {
      counts.failed += 1;
      process.stdout.write(`FAIL ${name}: ${error instanceof Error ? error.message : error}\n`);
    }
  }
  const { passed, failed, skipped } = counts;
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  return failed === 0;
}

async function checkSums({ folder }: Release): Promise<undefined> {
  await runTool(['sha256sum', '--check', '--strict', join(folder, 'SHA256SUMS')], { cwd: folder });
  return undefined;
}
