// Opens the database that a URL names. Code that needs one kind (to copy a file, to lock it) opens
// that kind itself.

import type { Database } from './contract.ts';
import { type DatabaseOptions, databasePath, openDatabase } from './database.ts';
import { openPostgres } from './postgres/database.ts';

/** The limit for a statement of a report. */
const PATIENT_MS = 60_000;

/** `sqlite:PATH` or `postgres://…`; PostgreSQL's own settings decide how its commits sync. */
export function connectDatabase(options: DatabaseOptions): Database {
  const { url, patient = false, byIndex = false } = options;
  if (isSqliteUrl(url)) return openDatabase(options);
  return openPostgres({ url, byIndex, ...(patient ? { statementTimeoutMs: PATIENT_MS } : {}) });
}

export function isSqliteUrl(url: string): boolean {
  return url.startsWith('sqlite:');
}

/** The path of a SQLite file; `undefined` for a database server. */
export function databaseFile(url: string): string | undefined {
  return isSqliteUrl(url) ? databasePath(url) : undefined;
}
