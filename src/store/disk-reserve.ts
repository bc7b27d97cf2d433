// Backups and archives leave some of their disk free: the database, or another service, may need it
// for its next commit.

import { stat, statfs } from 'node:fs/promises';

const RESERVE_BYTES = 64 * 1_024 * 1_024;
/** The same on a small disk, as a share of it. */
const RESERVE_SHARE = 0.05;

/** What a backup or an archive may still write in a directory; negative where the reserve is in use. */
export async function spareBytes(directory: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return bavail * bsize - Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
}

/** Of a SQLite database, with its log, of which a part is in a copy. */
export async function databaseBytes(path: string): Promise<number> {
  const [own, log] = await Promise.all(
    [path, `${path}-wal`].map((name) =>
      stat(name)
        .then(({ size }) => size)
        .catch(() => 0),
    ),
  );
  return (own ?? 0) + (log ?? 0);
}

/** Throws `ENOSPC` where nothing more may be written, as the system does on a full disk. */
export async function requireSpare(directory: string): Promise<void> {
  if ((await spareBytes(directory)) >= 0) return;
  const message = `the disk of ${directory} has only the space that the database needs`;
  throw Object.assign(new Error(message), { code: 'ENOSPC' });
}
