// JavaScript can throw any value: what threads, logs and commands report of it is its message.

/** The message of a thrown value, which need not be an `Error`. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
