// Finds the kind of a JSON text without making its values, which may take far more memory than the
// text. Accepts exactly what the runtime's parser does, up to a depth. Pure.

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** No tool's input nests deeper, and the runtime's parser has a bound as well. */
const DEPTH_MAX = 1_024;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = { t: 'true', f: 'false', n: 'null' } as const;
const ESCAPED = '"\\/bfnrt';
const HEX_4 = /[\dA-Fa-f]{4}/y;

/** The kind of the one value in `text`; undefined if the text is not JSON, or nests too deep. */
export function jsonKind(text: string): JsonKind | undefined {
  let at = skipBlanks(text, 0);
  const kind = kindAt(text, at);
  /** The open arrays and objects, as what closes each. */
  const closers: ('}' | ']')[] = [];
  for (;;) {
    const first = text[at];
    if (first === '{' || first === '[') {
      closers.push(first === '{' ? '}' : ']');
      if (closers.length > DEPTH_MAX) return undefined;
      at = skipBlanks(text, at + 1);
      if (text[at] !== closers.at(-1)) {
        at = first === '{' ? nameEnd(text, at) : at;
        if (at === -1) return undefined;
        continue;
      }
    } else {
      at = scalarEnd(text, at);
      if (at === -1) return undefined;
      at = skipBlanks(text, at);
    }
    // A value has ended, or an empty array or object is about to.
    while (closers.length > 0 && text[at] === closers.at(-1)) {
      closers.pop();
      at = skipBlanks(text, at + 1);
    }
    const closer = closers.at(-1);
    if (closer === undefined) return at === text.length ? kind : undefined;
    if (text[at] !== ',') return undefined;
    at = skipBlanks(text, at + 1);
    if (closer === '}') at = nameEnd(text, at);
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
  const end = text[at] === '"' ? stringEnd(text, at) : -1;
  if (end === -1) return -1;
  const colon = skipBlanks(text, end);
  return text[colon] === ':' ? skipBlanks(text, colon + 1) : -1;
}

/** Behind a string, number or word; -1 if there is none. */
function scalarEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  if (first === 't' || first === 'f' || first === 'n') {
    const word = WORDS[first];
    return text.startsWith(word, at) ? at + word.length : -1;
  }
  NUMBER.lastIndex = at;
  return NUMBER.test(text) ? NUMBER.lastIndex : -1;
}

/** Behind the string that opens at `start`; -1 if it does not end, or is no JSON. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return -1;
    if (code !== 0x5c) continue;
    at += 1;
    const escaped = text[at];
    if (escaped === 'u') {
      HEX_4.lastIndex = at + 1;
      if (!HEX_4.test(text)) return -1;
      at += 4;
    } else if (escaped === undefined || !ESCAPED.includes(escaped)) return -1;
  }
  return -1;
}
