// Decodes the parts of a URL that may contain any character: user names, passwords and aliases.

/** Undefined if absent, null if it cannot be decoded. */
export function decodePart(text: string | undefined): string | undefined | null {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
