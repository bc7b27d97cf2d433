// What PostgreSQL or the way to it can say no with. Messages are for operators; they never hold the
// values of a statement, which postgres.js keeps beside its own errors.

import type postgres from 'postgres';

/**
 * The database could not do its work, or it is unknown whether it did: the connection broke, a time
 * ran out, a reply belonged to another question. Nothing of the statement can be relied on.
 */
export class PostgresFailure extends Error {
  override readonly name: string = 'PostgresFailure';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The connection broke over a commit: what it would have written is there, all of it, or is not. */
export class UnknownOutcome extends PostgresFailure {
  override readonly name = 'UnknownOutcome';
}

/** PostgreSQL refused one statement for what it said; the code is an SQLSTATE. */
export class PostgresRefusal extends Error {
  override readonly name = 'PostgresRefusal';
  readonly code: string;
  /** The constraint that it would have broken, where it was one. */
  readonly constraint: string | undefined;
  constructor(code: string, message: string, constraint: string | undefined) {
    super(message);
    this.code = code;
    this.constraint = constraint;
  }
}

/** A statement after one that failed, in the same transaction: it says nothing of itself. */
export const TRANSACTION_ABORTED = '25P02';

/** Feature, cardinality, data, constraint, state of the transaction, syntax, our own triggers. */
const REFUSALS = /^(0A|21|22|23|2F|42|P0)|^25P02$/;

/** An error of postgres.js, or of a socket, as one of ours. */
export function fromDriver(cause: unknown): PostgresFailure | PostgresRefusal {
  if (cause instanceof PostgresFailure || cause instanceof PostgresRefusal) return cause;
  if (isFromServer(cause)) {
    const { code, message, severity } = cause;
    // Of a value that does not fit, PostgreSQL quotes the value.
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

/** Of all errors of the driver, only what PostgreSQL itself has said has a severity. */
function isFromServer(cause: unknown): cause is postgres.PostgresError {
  return cause instanceof Error && 'severity' in cause;
}
