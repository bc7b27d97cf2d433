// Who serves a database: one process at a time, because limits and open requests are in its memory.
// Taken by `serve` before it recovers what a dead process left; commands work beside it without.

import { Database as Connection } from 'bun:sqlite';
import { chmodSync, realpathSync } from 'node:fs';
import { databasePath } from './database.ts';
import { StoreError, sqliteCode } from './error.ts';

/** For a command that is just looking; another server keeps it for much longer. */
const BUSY_TIMEOUT_MS = 100;

/** Gives the database free for another server. */
type Release = () => void;

/**
 * Takes the database for this process until it releases it or dies, however it dies: the lock is
 * the operating system's own, on a file beside the database. Throws `StoreError` where another
 * server has it. The database's file must exist.
 */
export function ownDatabase(url: string): Release {
  // Two names of one file are one database.
  const path = realpathSync(databasePath(url));
  const side = `${path}.owner`;
  let connection: Connection | undefined;
  try {
    connection = new Connection(side, { readwrite: true, create: true });
    chmodSync(side, 0o600);
    connection.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // Nothing is ever written into it, not even a journal: the transaction is the lock.
    connection.run('PRAGMA journal_mode = MEMORY');
    connection.run('BEGIN EXCLUSIVE');
  } catch (cause) {
    connection?.close();
    throw failure(path, side, cause);
  }
  const held = connection;
  return () => held.close();
}

/**
 * Whether a server has the database at the moment. It takes nothing: to look needs the shared lock
 * for an instant, which a server that starts waits for.
 */
export function isServed(url: string): boolean {
  let connection: Connection | undefined;
  try {
    connection = new Connection(`${realpathSync(databasePath(url))}.owner`, { readonly: true });
    connection.query('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (cause) {
    return sqliteCode(cause)?.startsWith('SQLITE_BUSY') === true;
  } finally {
    connection?.close();
  }
}

function failure(path: string, side: string, cause: unknown): StoreError {
  if (sqliteCode(cause)?.startsWith('SQLITE_BUSY') === true) {
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
