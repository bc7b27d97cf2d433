// Puts another SQLite file into the place of a database that no process serves. At each moment the
// path names one whole database, the old one or the new one; the old one is kept beside it.

import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openDatabase, type SqliteDatabase } from './database.ts';
import { StoreError } from './error.ts';
import { syncFile } from './sqlite-copy.ts';

/**
 * Moves the log of a database into its file, which then is all of it. Throws `StoreError` where
 * another process has the database open.
 */
export function absorbLog({ connection }: Pick<SqliteDatabase, 'connection'>): void {
  const busy = (cause?: unknown): StoreError =>
    new StoreError(
      'Another process has the database open. Nothing was changed; wait for it to end, then try again.',
      { cause },
    );
  let mode: string | undefined;
  try {
    // Needs every other connection to be closed.
    mode = connection
      .query<{ journal_mode: string }, []>('PRAGMA journal_mode = DELETE')
      .get()?.journal_mode;
  } catch (cause) {
    throw busy(cause);
  }
  if (mode !== 'delete') throw busy();
}

/** Opens the database to compare and to absorb its log. Throws `StoreError`. */
export function openPresent(path: string): SqliteDatabase {
  return openDatabase({ url: `sqlite:${path}`, sync: 'full', patient: true });
}

/** The files in which SQLite keeps what it has not yet moved into a database. */
const LOGS = ['-wal', '-journal'] as const;

/** The logs beside a path: of a damaged database, or of one that is gone. */
export function logsOf(path: string): string[] {
  return LOGS.filter((suffix) => existsSync(`${path}${suffix}`));
}

/** Of a database and its logs: each commit of another process changes it. */
export function stateOf(path: string): string {
  return ['', ...LOGS]
    .map((suffix) => {
      const file = statSync(`${path}${suffix}`, { bigint: true, throwIfNoEntry: false });
      return file === undefined ? '' : `${file.ino} ${file.size} ${file.mtimeNs}`;
    })
    .join();
}

/** Throws `StoreError`. */
export function requireUnchanged(path: string, seen: string): void {
  if (stateOf(path) === seen) return;
  throw new StoreError(
    'Another process has changed the database since it was compared with the backup. Nothing was replaced; run the command again.',
  );
}

/** A name that no database and no log has: two replacements may run within a second. */
export function asideName(path: string, nowMs: number): string {
  const name = `${path}.replaced-${new Date(nowMs).toISOString().replace(/\.\d+|[-:]/g, '')}`;
  let free = name;
  for (let number = 2; existsSync(free) || logsOf(free).length > 0; number += 1)
    free = `${name}-${number}`;
  return free;
}

/**
 * Replaces the database by a file in the same folder. Keeps the old one as `aside`, and each log
 * beside it, also that of a database that is gone: SQLite would apply it to the new file. Throws
 * `StoreError` where the old one is not as it was `seen`: what was committed since would be lost.
 */
export function replaceDatabase(
  path: string,
  replacement: string,
  { aside, seen }: { readonly aside: string; readonly seen: string },
): void {
  syncFile(replacement);
  requireUnchanged(path, seen);
  if (existsSync(path)) linkSync(path, aside);
  for (const suffix of logsOf(path)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
  rmSync(`${path}-shm`, { force: true });
  renameSync(replacement, path);
  syncFile(dirname(path));
}
