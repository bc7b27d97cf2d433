// How much of a SQLite file is free, and how it becomes smaller. SQLite uses free pages for new rows,
// and never gives them back by itself.

import type { SqliteDatabase } from './database.ts';

export type FileSpace = { readonly bytes: number; readonly freeBytes: number };

/** Of the file, without its log. */
export function fileSpace({ connection }: Pick<SqliteDatabase, 'connection'>): FileSpace {
  const read = (pragma: string): number =>
    Number(connection.query<Record<string, bigint>, []>(`PRAGMA ${pragma}`).get()?.[pragma] ?? 0n);
  const pageBytes = read('page_size');
  return {
    bytes: read('page_count') * pageBytes,
    freeBytes: read('freelist_count') * pageBytes,
  };
}

/**
 * Rewrites the file without free pages, in one transaction that a crash undoes. Throws SQLite's
 * error: `SQLITE_FULL`, or `SQLITE_BUSY` where another process writes.
 */
export function rewrite({ connection }: Pick<SqliteDatabase, 'connection'>): void {
  connection.run('VACUUM');
  connection.run('PRAGMA wal_checkpoint(TRUNCATE)');
}
