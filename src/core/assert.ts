// Assertions. A failed one is a bug in the gateway: it fails the current request, never the
// process. Tests treat it as fatal.

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Ends a `switch` over a closed union: the compiler proves that this line is unreachable. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}
