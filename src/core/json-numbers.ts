// Parses JSON whose numbers must stay exact: each is the text that the file has.

/** Numbers become strings. `undefined` where the text is not JSON. */
export function parseJsonNumbers(text: string): unknown {
  try {
    // The runtime passes the source of each number; TypeScript's type does not have it yet.
    return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    );
  } catch {
    return undefined;
  }
}
