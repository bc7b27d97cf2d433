// Locks a database for the one process that serves it, because limits and open requests are in its
// memory. `serve` takes the lock before it recovers holds; commands need no lock.

import { Database as Connection } from 'bun:sqlite';
import { chmodSync, existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { databasePath } from './database.ts';
import { StoreError, sqliteCode } from './error.ts';

/** For a command that only checks; a server holds the lock for much longer. */
const BUSY_TIMEOUT_MS = 100;

/** Releases the lock for another server. */
type Release = () => void;

/**
 * The file that a URL names, behind links; it may be missing. Two paths of one file are one
 * database.
 */
export function realDatabasePath(url: string): string {
  const path = databasePath(url);
  if (existsSync(path)) return realpathSync(path);
  const directory = dirname(path);
  const real = join(existsSync(directory) ? realpathSync(directory) : directory, basename(path));
  const isLink = lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolve(dirname(real), readlinkSync(real)) : real;
}

/**
 * Locks the database until it is released or the process dies in any way: the operating system
 * holds the lock, on a file beside the database, whose folder must exist. Throws `StoreError` where
 * another server has it.
 */
export function ownDatabase(url: string): Release {
  const path = realDatabasePath(url);
  const side = `${path}.owner`;
  try {
    return lock(side);
  } catch (cause) {
    throw failure(path, side, cause);
  }
}

/**
 * Locks a folder of backups for the one server that writes and removes files of this name there.
 * `undefined` where another server has it. Throws SQLite's error where it cannot be locked.
 */
export function ownBackups(folder: string, stem: string): Release | undefined {
  try {
    return lock(join(folder, `${stem}.backups.owner`));
  } catch (cause) {
    if (isBusy(cause)) return undefined;
    throw cause;
  }
}

function lock(side: string): Release {
  const connection = new Connection(side, { readwrite: true, create: true });
  try {
    chmodSync(side, 0o600);
    connection.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // Writes no file, not even a journal: the transaction is the lock.
    connection.run('PRAGMA journal_mode = MEMORY');
    connection.run('BEGIN EXCLUSIVE');
  } catch (cause) {
    connection.close();
    throw cause;
  }
  return () => connection.close();
}

const isBusy = (cause: unknown): boolean => sqliteCode(cause)?.startsWith('SQLITE_BUSY') === true;

/**
 * Whether a server has the lock. Checking takes the shared lock for an instant; a server that
 * starts waits for it.
 */
export function isServed(url: string): boolean {
  let connection: Connection | undefined;
  try {
    connection = new Connection(`${realpathSync(databasePath(url))}.owner`, { readonly: true });
    connection.query('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (cause) {
    return isBusy(cause);
  } finally {
    connection?.close();
  }
}

function failure(path: string, side: string, cause: unknown): StoreError {
  if (isBusy(cause)) {
    return new StoreError(
      `Another tollgate serves the database ${path} already. Stop it first, or point DATABASE_URL of this one at another file.`,
      { cause },
    );
  }
  return new StoreError(
    `The file ${side} cannot be locked. Check that it and its directory can be written by this user.`,
    { cause },
  );
}
