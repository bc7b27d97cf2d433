// Handles escapes in raw JSON text.

const BACKSLASH = 0x5c;

/** Matches what looks like an escaped surrogate pair, or half of one. */
const SURROGATES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}/g;
const HALF_LENGTH = 6;
const REPLACEMENT = '\\ufffd';

/**
 * Replaces an escaped lone surrogate in JSON text by U+FFFD. Such a string has no UTF-8 form, so
 * upstreams and databases could not accept it.
 */
export function repairSurrogates(text: string): string {
  return text.includes('\\u') ? text.replace(SURROGATES, repair) : text;
}

function repair(match: string, offset: number, text: string): string {
  const isPair = match.length > HALF_LENGTH;
  // After an escaped backslash, the first six characters are plain text.
  if (isEscaped(text, offset)) return isPair ? match.slice(0, HALF_LENGTH) + REPLACEMENT : match;
  return isPair ? match : REPLACEMENT;
}

/** Whether an odd number of backslashes precedes `index`, which escapes the character there. */
export function isEscaped(text: string, index: number): boolean {
  let start = index;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (index - start) % 2 === 1;
}
