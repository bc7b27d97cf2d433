// What somebody asked of an operation and cannot have, as one error with a code and words, for bad
// values and for things that are not there. The command line prints it, the dashboard answers it.

/** Thrown before anything is changed. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
