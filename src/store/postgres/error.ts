// Errors of PostgreSQL and of the connection to it. Messages are for operators; they never contain
// the values of a statement, which postgres.js attaches to its own errors.

import type postgres from 'postgres';

/**
 * The database failed, or it is unknown whether it did: the connection broke, a timeout passed, a
 * reply was out of step. The result of the statement cannot be relied on.
 */
export class PostgresFailure extends Error {
  override readonly name: string = 'PostgresFailure';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The connection broke during a commit: either all of it is written, or nothing. */
export class UnknownOutcome extends PostgresFailure {
  override readonly name = 'UnknownOutcome';
}

/** PostgreSQL rejected one statement; the code is an SQLSTATE. */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal';
  readonly code: string;
  /** The violated constraint, if any. */
  readonly constraint: string | undefined;
  constructor(code: string, message: string, constraint: string | undefined) {
    super(message);
    this.code = code;
    this.constraint = constraint;
  }
}

/** A statement after a failed one in the same transaction; the earlier error is the cause. */
export const TRANSACTION_ABORTED = '25P02';

/** Feature, cardinality, data, constraint, state of the transaction, syntax, our own triggers. */
const REFUSALS = /^(0A|21|22|23|2F|42|P0)|^25P02$/;

/** Converts an error of postgres.js or of a socket to one of ours. */
export function fromDriver(cause: unknown): PostgresFailure | PostgresRefusal {
  if (cause instanceof PostgresFailure || cause instanceof PostgresRefusal) return cause;
  if (isFromServer(cause)) {
    const { code, message, severity } = cause;
    // For a value that does not fit, PostgreSQL's message quotes the value.
    const words = code.startsWith('22') ? 'a value does not fit' : message;
    const said = `PostgreSQL says: ${words} (${code}).`;
    const isRefusal = REFUSALS.test(code) && severity === 'ERROR';
    return isRefusal
      ? new PostgresRefusal(code, said, cause.constraint_name)
      : new PostgresFailure(code, said);
  }
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return new PostgresFailure(
    typeof code === 'string' ? code : 'UNKNOWN',
    `The connection to PostgreSQL failed: ${typeof message === 'string' ? message : String(cause)}. Check that it runs, and DATABASE_URL.`,
  );
}

/** Only errors that PostgreSQL itself reported have a severity. */
function isFromServer(cause: unknown): cause is postgres.PostgresError {
  return cause instanceof Error && 'severity' in cause;
}
