// Handles escapes in raw JSON text.

const BACKSLASH = 0x5c;

const LETTER_U = 0x75;

/**
 * Replaces an escaped lone surrogate in JSON text by `\\ufffd`. Such a string has no UTF-8 form, so
 * upstreams and databases could not accept it. The replacement is as long, so it is written in place:
 * a text may consist of them.
 */
export function repairSurrogates(text: string): string {
  if (!text.includes('\\u')) return text;
  let units: Buffer | undefined;
  for (let at = text.indexOf('\\'); at !== -1 && at < text.length; at += 1) {
    if (text.charCodeAt(at) !== BACKSLASH) continue;
    at += 1;
    if (text.charCodeAt(at) !== LETTER_U) continue;
    const half = halfAt(text, at + 1);
    if (half === undefined) continue;
    const isPair =
      half === 'high' &&
      text.charCodeAt(at + 5) === BACKSLASH &&
      text.charCodeAt(at + 6) === LETTER_U &&
      halfAt(text, at + 7) === 'low';
    if (!isPair) {
      units ??= Buffer.from(text, 'utf16le');
      for (let digit = 1; digit <= 4; digit += 1) units[(at + digit) * 2] = digit < 4 ? 0x66 : 0x64;
    }
    at += isPair ? 10 : 4;
  }
  return units === undefined ? text : units.toString('utf16le');
}

/** The half of a surrogate pair that four hexadecimal digits are. */
function halfAt(text: string, at: number): 'high' | 'low' | undefined {
  if ((text.charCodeAt(at) | 0x20) !== 0x64) return undefined;
  const kind = hexDigit(text.charCodeAt(at + 1));
  if (kind < 8 || hexDigit(text.charCodeAt(at + 2)) < 0) return undefined;
  if (hexDigit(text.charCodeAt(at + 3)) < 0) return undefined;
  return kind < 12 ? 'high' : 'low';
}

/** -1 for anything else. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Whether an odd number of backslashes precedes `index`, which escapes the character there. */
export function isEscaped(text: string, index: number): boolean {
  let start = index;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (index - start) % 2 === 1;
}
