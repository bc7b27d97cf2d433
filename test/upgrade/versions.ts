// The two versions of an upgrade. By default the build in dist/ and a rehearsal of a later one;
// scripts/upgrade names a release in TOLLGATE_TEST_PREVIOUS, and then the build in dist/ is the later.

import { join, resolve } from 'node:path';
import { gatewayCommand } from '../support/gateway.ts';

export type Versions = {
  /** Paths of executables. */
  readonly previous: string;
  readonly next: string;
  /** Whether both are of the same source. */
  readonly isRehearsal: boolean;
};

/** Builds the rehearsal into `folder` where it is needed. */
export async function versionsOfUpgrade(folder: string): Promise<Versions> {
  const [built = ''] = gatewayCommand();
  const named = process.env['TOLLGATE_TEST_PREVIOUS'];
  if (named !== undefined) return { previous: resolve(named), next: built, isRehearsal: false };
  const next = join(folder, 'next');
  const script = join(import.meta.dir, 'next-version.ts');
  const child = Bun.spawn([process.execPath, script, next], { stdout: 'ignore', stderr: 'pipe' });
  const [code, errors] = await Promise.all([child.exited, child.stderr.text()]);
  if (code !== 0) throw new Error(`the next version was not built: ${errors}`);
  return { previous: built, next, isRehearsal: true };
}
