// Escapes in the text of JSON. Called by what reads or writes such text before it is parsed.

const BACKSLASH = 0x5c;

/** What looks like an escaped surrogate pair, or like half of one. */
const SURROGATES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}/g;
const HALF_LENGTH = 6;
const REPLACEMENT = '\\ufffd';

/**
 * Puts U+FFFD where JSON text escapes half of a surrogate pair. Such a string cannot be written as
 * UTF-8, so no upstream and no database could take it.
 */
export function repairSurrogates(text: string): string {
  return text.includes('\\u') ? text.replace(SURROGATES, repair) : text;
}

function repair(match: string, offset: number, text: string): string {
  const isPair = match.length > HALF_LENGTH;
  // Behind a backslash that is itself escaped, the first six characters are plain text.
  if (isEscaped(text, offset)) return isPair ? match.slice(0, HALF_LENGTH) + REPLACEMENT : match;
  return isPair ? match : REPLACEMENT;
}

/** Whether an odd number of backslashes stands before `index`: then they escape what is there. */
export function isEscaped(text: string, index: number): boolean {
  let start = index;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (index - start) % 2 === 1;
}
