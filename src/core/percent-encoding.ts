// The parts of a URL that may hold any character: names and passwords.

/** Undefined where there is nothing, null where it cannot be decoded. */
export function decodePart(text: string | undefined): string | undefined | null {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
