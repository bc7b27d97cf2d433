// Finds the kind of a JSON text without making its values, which may take far more memory than the
// text. Accepts exactly what the runtime's parser does, up to a depth. Pure.

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** No tool's input nests deeper, and the runtime's parser has a bound as well. */
const DEPTH_MAX = 1_024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const WORDS = { t: 'true', f: 'false', n: 'null' } as const;

/** The characters that an escape may have, but `u`. */
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));
const LETTER_U = 0x75;

/** The kind of the one value in `text`; undefined if the text is not JSON, or nests too deep. */
export function jsonKind(text: string): JsonKind | undefined {
  let at = skipBlanks(text, 0);
  const kind = kindAt(text, at);
  /** What closes each open array and object, and the last of them. */
  const closers: number[] = [];
  let closer: number | undefined;
  for (;;) {
    const first = text.charCodeAt(at);
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      closer = first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
      closers.push(closer);
      if (closers.length > DEPTH_MAX) return undefined;
      at = skipBlanks(text, at + 1);
      if (text.charCodeAt(at) !== closer) {
        at = first === OPEN_BRACE ? nameEnd(text, at) : at;
        if (at === -1) return undefined;
        continue;
      }
    } else {
      at = scalarEnd(text, at);
      if (at === -1) return undefined;
      at = skipBlanks(text, at);
    }
    // A value has ended, or an empty array or object is about to.
    while (closer !== undefined && text.charCodeAt(at) === closer) {
      closers.pop();
      closer = closers[closers.length - 1];
      at = skipBlanks(text, at + 1);
    }
    if (closer === undefined) return at === text.length ? kind : undefined;
    if (text.charCodeAt(at) !== COMMA) return undefined;
    at = skipBlanks(text, at + 1);
    if (closer === CLOSE_BRACE) at = nameEnd(text, at);
    if (at === -1) return undefined;
  }
}

function kindAt(text: string, at: number): JsonKind {
  switch (text[at]) {
    case '{':
      return 'object';
    case '[':
      return 'array';
    case '"':
      return 'string';
    case 't':
    case 'f':
      return 'boolean';
    case 'n':
      return 'null';
    default:
      return 'number';
  }
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/** Where the value behind a name begins; -1 if there is no name and colon. */
function nameEnd(text: string, at: number): number {
  const end = text.charCodeAt(at) === QUOTE ? stringEnd(text, at) : -1;
  if (end === -1) return -1;
  const colon = skipBlanks(text, end);
  return text.charCodeAt(colon) === COLON ? skipBlanks(text, colon + 1) : -1;
}

/** Behind a string, number or word; -1 if there is none. */
function scalarEnd(text: string, at: number): number {
  if (text.charCodeAt(at) === QUOTE) return stringEnd(text, at);
  const first = text[at];
  if (first === 't' || first === 'f' || first === 'n') {
    const word = WORDS[first];
    return text.startsWith(word, at) ? at + word.length : -1;
  }
  return numberEnd(text, at);
}

/** An expression would cost a call for each number, of which a text may consist. */
function numberEnd(text: string, start: number): number {
  const first = text[start] === '-' ? start + 1 : start;
  let at = text[first] === '0' ? first + 1 : digitsEnd(text, first);
  if (at === first) return -1;
  if (text[at] === '.') {
    const fraction = at + 1;
    at = digitsEnd(text, fraction);
    if (at === fraction) return at - 1;
  }
  if (text[at] !== 'e' && text[at] !== 'E') return at;
  const exponent = text[at + 1] === '-' || text[at + 1] === '+' ? at + 2 : at + 1;
  const end = digitsEnd(text, exponent);
  return end === exponent ? at : end;
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39; ) {
    at += 1;
    code = text.charCodeAt(at);
  }
  return at;
}

/** Behind the string that opens at `start`; -1 if it does not end, or is no JSON. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < 0x20) return -1;
    if (code !== BACKSLASH) continue;
    at += 1;
    const escaped = text.charCodeAt(at);
    if (escaped === LETTER_U) {
      for (let digit = 1; digit <= 4; digit += 1) {
        if (!isHex(text.charCodeAt(at + digit))) return -1;
      }
      at += 4;
    } else if (!ESCAPED.has(escaped)) return -1;
  }
  return -1;
}

function isHex(code: number): boolean {
  const letter = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}
