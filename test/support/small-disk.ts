// A disk of some megabytes, so that a test can fill it. Needs the right to mount one.

import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BLOCK_BYTES = 65_536;

export type SmallDisk = {
  readonly path: string;
  /** Takes what is left of the disk, but so many bytes. */
  leave(bytes: number): void;
  /** Gives it back. */
  free(): void;
  remove(): void;
};

/** `undefined` where this process may not mount a disk. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path];
  if (!Bun.spawnSync(['mount', ...options]).success) {
    rmSync(path, { recursive: true });
    return undefined;
  }
  const filling = join(path, 'fill');
  return {
    path,
    leave(bytes) {
      const probe = Bun.spawnSync(['df', '--output=avail', '-B1', path]).stdout.toString();
      const file = openSync(filling, 'a');
      try {
        const block = Buffer.alloc(BLOCK_BYTES);
        for (let left = Number(probe.split('\n')[1]) - bytes; left > 0; left -= BLOCK_BYTES)
          writeSync(file, block);
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filling, { force: true }),
    remove() {
      Bun.spawnSync(['umount', '-l', path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
