// Errors of the database itself. The messages are for operators: they say what happened and what to
// do next, and may name the path of the file, which the operator chose.

import { SQLiteError } from 'bun:sqlite';
import { PostgresFailure, UnknownOutcome } from './postgres/error.ts';

export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** The database has migrations that this version does not know. */
export class NewerDatabase extends StoreError {}

/** A SQLite error of the writing thread, as the requesting thread receives it. */
export class WriterFailure extends Error {
  override readonly name = 'SQLiteError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The writing thread died during a commit: either all of it is written, or nothing. */
export class UnknownCommit extends WriterFailure {}

/** SQLite's own code, such as `SQLITE_BUSY`, where `cause` is an error of SQLite. */
export function sqliteCode(cause: unknown): string | undefined {
  return cause instanceof SQLiteError || cause instanceof WriterFailure ? cause.code : undefined;
}

/**
 * Whether the database failed (a full disk, a lock held too long, a damaged file) rather than
 * rejected one statement.
 */
export function isStoreFailure(cause: unknown): boolean {
  if (cause instanceof PostgresFailure) return true;
  const code = sqliteCode(cause);
  return code !== undefined && !/^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG|ERROR)/.test(code);
}

/** Whether the outcome of a commit is unknown: all of it is written, or nothing. */
export function isUnknownOutcome(cause: unknown): boolean {
  return cause instanceof UnknownOutcome || cause instanceof UnknownCommit;
}

const hasSqlState = (state: string) => (cause: unknown) =>
  cause instanceof PostgresFailure && cause.code === state;

/** Whether another node has changed the rows on which this transaction decided. */
export const isConflict = hasSqlState('40001');

/** Whether the database rolled this transaction back to resolve a deadlock. */
export const isDeadlock = hasSqlState('40P01');

/** Whether the database rolled this transaction back because it waited too long for a lock. */
export const isLockTimeout = hasSqlState('55P03');

const isCancelled = hasSqlState('57014');

/** Whether a statement took too long, or an operator ended it. */
export function isStatementTimeout(cause: unknown): boolean {
  return isCancelled(cause) || sqliteCode(cause) === 'SQLITE_INTERRUPT';
}
