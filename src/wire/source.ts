// Finds the source text of tool inputs in a Messages body. Called by the Messages request parser
// when a body has tool calls: parsed values would reorder integer-like keys and round large
// integers (design section 8, "Tool arguments stay bytes"). One pass over text that JSON.parse has
// accepted before; anything else is a bug of ours, and must fail rather than go round forever.

import { assert } from '../core/assert.ts';
import { isEscaped } from './json.ts';

const QUOTE = 34;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COMMA = 44;

/** Reads one value that starts at `start` and returns where it ends. */
type ReadValue = (start: number) => number;

/** Source texts by message and block: `sources[3]?.[0]` is `messages[3].content[0].input`. */
export type ToolInputSources = readonly (readonly (string | undefined)[] | undefined)[];

/**
 * The source text of every `messages[i].content[j].input`. `text` is valid JSON. Of duplicate keys
 * the last one counts, as it does for JSON.parse.
 */
export function toolInputSources(text: string): ToolInputSources {
  let sources: (string | undefined)[][] = [];

  const body = members('messages', (start) => {
    sources = [];
    return elements(message)(start);
  });

  function message(index: number): ReadValue {
    return members('content', (start) => {
      const inputs: (string | undefined)[] = [];
      sources[index] = inputs;
      return elements((blockIndex) => block(inputs, blockIndex))(start);
    });
  }

  function block(inputs: (string | undefined)[], index: number): ReadValue {
    return members('input', (start) => {
      const end = skipValue(text, start);
      inputs[index] = text.slice(start, end);
      return end;
    });
  }

  /** Reads an object and hands the values of one key to `read`; any other value is skipped. */
  function members(key: string, read: ReadValue): ReadValue {
    return (start) => {
      if (text.charCodeAt(start) !== OPEN_BRACE) return skipValue(text, start);
      let position = skipSpace(text, start + 1);
      while (text.charCodeAt(position) === QUOTE) {
        const keyEnd = skipString(text, position);
        const isKey = isString(text, position, keyEnd, key);
        const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
        position = skipSpace(text, isKey ? read(value) : skipValue(text, value));
        if (text.charCodeAt(position) === COMMA) position = skipSpace(text, position + 1);
      }
      return position + 1;
    };
  }

  /** Reads an array, each element with its own reader; any other value is skipped. */
  function elements(reader: (index: number) => ReadValue): ReadValue {
    return (start) => {
      if (text.charCodeAt(start) !== OPEN_BRACKET) return skipValue(text, start);
      let position = skipSpace(text, start + 1);
      for (let index = 0; text.charCodeAt(position) !== CLOSE_BRACKET; index += 1) {
        position = skipSpace(text, reader(index)(position));
        if (text.charCodeAt(position) === COMMA) position = skipSpace(text, position + 1);
      }
      return position + 1;
    };
  }

  body(skipSpace(text, 0));
  return sources;
}

/** Whether the string literal at `start` to `end` spells `wanted`, escapes resolved. */
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

/** `start` is at the opening quote; the result is behind the closing one. */
function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  assert(quote > start, 'a string of a parsed body has no end');
  return quote + 1;
}

/** Skips one value of any kind without recursion, so that depth costs nothing. */
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
