// JavaScript can throw any value: what threads, logs and commands report of it is its message or its
// code.

/** The message of a thrown value, which need not be an `Error`. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** The code of an error of the system or of SQLite; empty without one. */
export const errorCodeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
