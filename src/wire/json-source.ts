// Finds the source text of values inside a JSON text. Needed for tool inputs: printing parsed
// values would reorder integer-like keys and round large integers. It makes one pass over text that
// JSON.parse has accepted. Other text means a bug and must fail instead of looping forever.

import { assert } from '../core/assert.ts';
import { isEscaped } from './json.ts';

const QUOTE = 34;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COMMA = 44;

/** In a path: every element of an array. */
const EACH = '*';

/**
 * The source text of every value at `path`, whose steps are member names, or `*` for every element
 * of an array. The keys are the indices joined with a dot: with the path `messages`, `*`,
 * `content`, `*`, `input` the source of `messages[3].content[0].input` is at `3.0`; without a `*`
 * the key is empty. `text` is valid JSON. The last of duplicate members counts, as for JSON.parse.
 */
export function valueSources(text: string, path: readonly string[]): ReadonlyMap<string, string> {
  const found: [place: string, source: string][] = [];

  /** Reads the value at `start` and returns where it ends. */
  function read(start: number, depth: number, place: string): number {
    const step = path[depth];
    const code = text.charCodeAt(start);
    if (step === EACH && code === OPEN_BRACKET) return readElements(start, depth, place);
    if (step !== undefined && step !== EACH && code === OPEN_BRACE) {
      return readMembers(start, step, depth, place);
    }
    const end = skipValue(text, start);
    if (step === undefined) found.push([place, text.slice(start, end)]);
    return end;
  }

  function readMembers(start: number, name: string, depth: number, place: string): number {
    const foundBefore = found.length;
    let position = skipSpace(text, start + 1);
    while (text.charCodeAt(position) === QUOTE) {
      const nameEnd = skipString(text, position);
      const matches = isString(text, position, nameEnd, name);
      const value = skipSpace(text, skipSpace(text, nameEnd) + 1);
      // Discard what an earlier member of the same name held.
      if (matches) found.length = foundBefore;
      const end = matches ? read(value, depth + 1, place) : skipValue(text, value);
      position = skipSpace(text, end);
      if (text.charCodeAt(position) === COMMA) position = skipSpace(text, position + 1);
    }
    return position + 1;
  }

  function readElements(start: number, depth: number, place: string): number {
    let position = skipSpace(text, start + 1);
    for (let index = 0; text.charCodeAt(position) !== CLOSE_BRACKET; index += 1) {
      const inner = place === '' ? `${index}` : `${place}.${index}`;
      position = skipSpace(text, read(position, depth + 1, inner));
      if (text.charCodeAt(position) === COMMA) position = skipSpace(text, position + 1);
    }
    return position + 1;
  }

  read(skipSpace(text, 0), 0, '');
  return new Map(found);
}

/** Whether the string literal from `start` to `end` equals `wanted`, escapes resolved. */
function isString(text: string, start: number, end: number, wanted: string): boolean {
  const literal = text.slice(start, end);
  if (!literal.includes('\\')) return literal === `"${wanted}"`;
  return JSON.parse(literal) === wanted;
}

function skipSpace(text: string, start: number): number {
  let position = start;
  while (position < text.length && text.charCodeAt(position) <= 32) position += 1;
  return position;
}

/** `start` is at the opening quote; the result is after the closing one. */
function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  assert(quote > start, 'a string of a parsed body has no end');
  return quote + 1;
}

/** Skips a value of any kind without recursion, so that nesting cannot overflow the stack. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let position = start;
  do {
    assert(position < text.length, 'a value of a parsed body has no end');
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      position = skipString(text, position);
    } else {
      if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
      else if (depth === 0) return skipScalar(text, position);
      position += 1;
    }
  } while (depth > 0);
  return position;
}

function skipScalar(text: string, start: number): number {
  let position = start;
  while (position < text.length && !',]} \t\n\r'.includes(text.charAt(position))) position += 1;
  return position;
}
