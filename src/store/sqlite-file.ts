// The file of a SQLite database: creates it, detects that there was one before, and checks that it
// is still the one that was opened. SQLite keeps using a file that was deleted or replaced; what it
// commits there is lost on close.

import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { every } from '../async/every.ts';
import { errorCodeOf } from '../core/message-of.ts';
import { StoreError } from './error.ts';

/** Files that a server leaves beside the database. */
const TRACES = ['.owner', '-wal', '-shm'];

/**
 * Creates the file where it is missing, but not where there was one before: a server on an empty
 * database would reject every key and start from zero. `isNew` overrides that, and refuses an
 * existing database. Throws `StoreError`.
 */
export function createDatabaseFile(path: string, isNew: boolean): void {
  if (sizeOf(path) > 0) {
    if (!isNew) return;
    throw new StoreError(
      `There is a database at ${path}. Start without --new to serve it, or point DATABASE_URL at another file.`,
    );
  }
  const trace = isNew ? undefined : traceOf(path);
  // Another process that creates it leaves a log, too, and has by then written the file.
  if (trace !== undefined && sizeOf(path) === 0) {
    throw new StoreError(
      `There is no database at ${path}, but there was one: ${trace} is still there. Put the file back or restore a backup. To begin with an empty database instead, run tollgate serve --new.`,
    );
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // It contains e-mail addresses and balances, so only its owner may read it.
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  } catch (cause) {
    throw new StoreError(
      `The database file ${path} cannot be created. Check that its directory can be written by this user.`,
      { cause },
    );
  }
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

/** The first file that shows that a server used this path. The lock is beside a link's target. */
function traceOf(path: string): string | undefined {
  return [path, linkedFrom(path)]
    .flatMap((name) => TRACES.map((suffix) => `${name}${suffix}`))
    .find(existsSync);
}

function linkedFrom(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return path;
  }
}

/** Why the file is no longer the one that was opened. */
export type FileLoss = 'gone' | 'replaced' | 'emptied';

export type DatabaseFileWatch = ReturnType<typeof watchDatabaseFile>;

/** A change is noticed within a second. */
const LOOK_MS = 500;

/**
 * Watches an open database, its log and its index. A file that returns unchanged is good again; one
 * that was replaced or emptied stays lost, because our log may have been applied to the new file.
 */
export function watchDatabaseFile(path: string, clock: () => number) {
  // Behind a link, SQLite has both beside the target.
  const target = realpathSync(path);
  const files = [path, `${target}-wal`, `${target}-shm`];
  const opened = files.map((name) => statSync(name, { throwIfNoEntry: false, bigint: true }));
  let loss: FileLoss | undefined;

  async function look(): Promise<FileLoss | undefined> {
    const losses = await Promise.all(
      files.map(async (name, index) => {
        const before = opened[index];
        if (before === undefined) return undefined;
        try {
          const now = await stat(name, { bigint: true });
          if (now.dev !== before.dev || now.ino !== before.ino) return 'replaced';
          return index === 0 && now.size === 0n ? 'emptied' : undefined;
        } catch (error) {
          return isMissing(error) ? 'gone' : undefined;
        }
      }),
    );
    return losses.find((each) => each === 'replaced') ?? losses.find((each) => each !== undefined);
  }

  return {
    loss: (): FileLoss | undefined => loss,
    /**
     * Starts to look twice a second. `goodAt` is when the file was last seen in place. Returns a
     * function that stops it.
     */
    start(onChange: (loss: FileLoss | undefined, goodAt: number) => void): () => void {
      let goodAt = clock();
      return every(LOOK_MS, async () => {
        if (loss !== undefined && loss !== 'gone') return;
        const lookedAt = clock();
        const found = await look();
        // The next connection replaces a missing log: that is the same loss.
        const isNews = (found === undefined) !== (loss === undefined);
        loss = found;
        if (isNews) onChange(found, goodAt);
        if (found === undefined) goodAt = lookedAt;
      });
    },
  };
}

/** A file that cannot be examined for another reason may still be there. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ESTALE'].includes(errorCodeOf(error));
}
