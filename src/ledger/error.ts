// The errors of the ledger, and how they cross from its thread to the caller.

import type { HoldResult } from './contract.ts';

/** The disk or the database failed, and the command may not be written. Answered as 503. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable';
}

/** The ledger died during the command, which may have been written or not. */
export class LedgerSilent extends LedgerUnavailable {}

/**
 * The answer to a hold was early, and its commit has decided otherwise: another node has spent the
 * money, or so much of it that hidden output is no longer covered. Then the hold is on disk. Only the
 * queue creates this error, on the side of the caller.
 */
export class HoldRevoked extends LedgerUnavailable {
  /** The answer that is on disk. */
  readonly final: HoldResult;

  constructor(final: HoldResult) {
    super('Another node has spent the money that this hold was granted with.');
    this.final = final;
  }
}

/** The command is invalid; it changed nothing. The message is for operators. */
export class LedgerRefusal extends Error {
  override readonly name = 'LedgerRefusal';
}

/** An error as plain data: structured cloning loses its class and its name. */
export type PackedError = {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: PackedError;
  /** Whether it is a `LedgerSilent`. */
  readonly silent?: true;
};

/** Packs an error with all of its causes. */
export function packError(error: unknown): PackedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack, cause } = error;
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined ? {} : { cause: packError(cause) }),
    ...(error instanceof LedgerSilent ? { silent: true } : {}),
  };
}

/** Restores an error: the ledger's own with their class, all others as `Error` with their name. */
export function unpackError({ name, message, stack, cause, silent }: PackedError): Error {
  const options = cause === undefined ? {} : { cause: unpackError(cause) };
  const error =
    silent === true ? new LedgerSilent(message, options) : createError(name, message, options);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function createError(name: string, message: string, options: ErrorOptions): Error {
  if (name === 'LedgerUnavailable') return new LedgerUnavailable(message, options);
  if (name === 'LedgerRefusal') return new LedgerRefusal(message, options);
  return Object.assign(new Error(message, options), { name });
}
