// Copies a SQLite database to a new file beside writers, and puts finished files into place. A copy
// is written under another name and renamed when it is on disk, so a crash leaves no file that looks
// whole.

import { chmodSync, closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { openDatabase, type SqliteDatabase } from './database.ts';

/**
 * Writes a consistent copy into an empty file. SQLite reads one state of the database; writers go
 * on, and their log grows until the copy is complete.
 */
export function copyInto(source: SqliteDatabase, path: string): void {
  source.connection.run('VACUUM INTO ?', [path]);
}

/**
 * Opens a database in a new file, without a log: remove the file if it cannot be finished. Throws the
 * system's error, `EEXIST` where the name is taken.
 */
export function createCopy(path: string): SqliteDatabase {
  createFile(path);
  return openDatabase({ url: `sqlite:${path}`, sync: 'normal', isNew: true, log: false });
}

/** Creates an empty file for its owner. Throws the system's error, `EEXIST` where the name is taken. */
export function createFile(path: string): void {
  closeSync(openSync(path, 'wx', 0o600));
  // Regardless of the user's umask.
  chmodSync(path, 0o600);
}

/** Opens a copy to check it; writes nothing. Throws `StoreError`. */
export function openCopy(path: string): SqliteDatabase {
  return openDatabase({ url: `sqlite:${path}`, sync: 'full', readonly: true, patient: true });
}

/** Whether SQLite finds the file in order. The quick check does not compare indexes with tables. */
export function isIntact({ connection }: SqliteDatabase, check: 'integrity' | 'quick'): boolean {
  const rows = connection.query(`PRAGMA ${check}_check`).values();
  return rows.length === 1 && rows[0]?.[0] === 'ok';
}

/**
 * Gives a finished file its name, once its bytes are on disk. Throws the system's error, `EEXIST`
 * where the name is taken.
 */
export function publishFile(partial: string, path: string): void {
  syncFile(partial);
  // Unlike a rename, a link never replaces a file.
  linkSync(partial, path);
  rmSync(partial);
  syncFile(dirname(path));
}

/** Waits until a file or a folder is on disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
