// The error that some work ends with, for tests of what it says.

type ErrorClass<Thrown> = abstract new (...args: never[]) => Thrown;

/** The error of this class that `work` throws; undefined without one. Others fail the test. */
export function thrownBy<Thrown>(
  kind: ErrorClass<Thrown>,
  work: () => unknown,
): Thrown | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  return undefined;
}

/** The same of what `work` rejects with. */
export async function rejectionOf<Thrown>(
  kind: ErrorClass<Thrown>,
  work: () => Promise<unknown>,
): Promise<Thrown | undefined> {
  try {
    await work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  return undefined;
}
