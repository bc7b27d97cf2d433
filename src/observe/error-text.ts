// What the log shows of an error: its name, its location, and its message only where that cannot
// contain request data. A runtime quotes the text that it could not parse and the header that it
// rejected, which may be a prompt or a key.

export type ErrorWords = {
  readonly name: string;
  readonly message?: string;
  readonly stack?: string;
};

/** Errors whose messages are our own, or the database's about itself. */
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
