// Opens whichever database a URL names. Every caller that has a URL comes through here; what only
// one of them can do (copy a file, own it) asks for that one.

import type { Database } from './contract.ts';
import { type DatabaseOptions, databasePath, openDatabase } from './database.ts';
import { openPostgres } from './postgres/database.ts';

/** For a statement of a report. */
const PATIENT_MS = 60_000;

/** `sqlite:PATH` or `postgres://…`; how commits sync is up to the server of PostgreSQL. */
export function connectDatabase(options: DatabaseOptions): Database {
  const { url, patient = false, byIndex = false } = options;
  if (isSqliteUrl(url)) return openDatabase(options);
  return openPostgres({ url, byIndex, ...(patient ? { statementTimeoutMs: PATIENT_MS } : {}) });
}

export function isSqliteUrl(url: string): boolean {
  return url.startsWith('sqlite:');
}

/** The file of a database that is one; `undefined` for a database server. */
export function databaseFile(url: string): string | undefined {
  return isSqliteUrl(url) ? databasePath(url) : undefined;
}
