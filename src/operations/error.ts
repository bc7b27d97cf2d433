// The error of an operation that cannot be done, with a code and a message, for invalid values and
// missing objects. The command line prints it, the dashboard returns it.

/** Thrown before any change. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
