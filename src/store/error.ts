// What can be wrong with the database itself. The messages are for operators: they say what
// happened and what to do next, and may name the path of the file, which the operator chose.

import { SQLiteError } from 'bun:sqlite';
import { PostgresFailure, UnknownOutcome } from './postgres/error.ts';

export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** An error of SQLite in the thread that writes, as the thread that asked gets it. */
export class WriterFailure extends Error {
  override readonly name = 'SQLiteError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The thread that writes has died over a commit: all of it is written, or nothing. */
export class UnknownCommit extends WriterFailure {}

/** SQLite's own code, such as `SQLITE_BUSY`, where `cause` is an error of SQLite. */
export function sqliteCode(cause: unknown): string | undefined {
  return cause instanceof SQLiteError || cause instanceof WriterFailure ? cause.code : undefined;
}

/**
 * Whether the database could not do its work (a full disk, a lock held too long, a damaged file),
 * as opposed to having refused one statement for what it said.
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

/** Whether another node has written first what this transaction was decided by. */
export function isConflict(cause: unknown): boolean {
  return cause instanceof PostgresFailure && cause.code === '40001';
}

/** Whether two transactions waited for each other, and this one was undone to let the other go on. */
export function isDeadlock(cause: unknown): boolean {
  return cause instanceof PostgresFailure && cause.code === '40P01';
}
