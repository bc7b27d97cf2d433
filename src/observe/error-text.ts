// What the log says of an error that was thrown: its name, where it was thrown, and its message only
// where that is known to hold nothing of a request. A runtime quotes the text that it could not
// parse and the header that it refused, which may be a prompt or a key.

export type ErrorWords = {
  readonly name: string;
  readonly message?: string;
  readonly stack?: string;
};

/** Whose messages are of our own making, or of the database about itself. */
const PLAIN: ReadonlySet<string> = new Set([
  'CatalogError',
  'CommandError',
  'ConfigError',
  'GatewayError',
  'LedgerRefusal',
  'LedgerUnavailable',
  'PostgresFailure',
  'PostgresRefusal',
  'SQLiteError',
  'StoreError',
  'UnknownOutcome',
]);

/** The engine's own messages about code quote the code, and no value. */
const ABOUT_CODE = /\(evaluating '|\(near '|^Can't find variable: |^Cannot access '/;

/** An error that only wraps another one is logged as that one. */
export function errorWords(error: unknown): ErrorWords {
  if (!(error instanceof Error)) return { name: typeof error };
  if (!PLAIN.has(error.name) && error.cause instanceof Error) return errorWords(error.cause);
  const { name, message, stack } = error;
  const frames = stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return {
    name: /^\w{1,64}$/.test(name) ? name : 'Error',
    ...(PLAIN.has(name) || ABOUT_CODE.test(message) ? { message } : {}),
    ...(frames.length === 0 ? {} : { stack: frames.map((line) => line.trim()).join('\n') }),
  };
}
