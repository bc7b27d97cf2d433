// Invariants. A failed assertion is a bug of ours: it fails the one request it happened in, never
// the process, and tests treat it as fatal.

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Fails with `message` when `condition` does not hold. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Ends a `switch` over a closed union: the compiler proves that this line is never reached. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}
