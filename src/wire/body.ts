// Parses the bytes of a request body, once per request, before either client format sees it. Bounds
// the parser's time and stack use, and never repeats the caller's text in a refusal.

import { GatewayError } from '../core/error.ts';
import type { ParsedBody } from './format.ts';
import { repairSurrogates } from './json.ts';
import { JSON_DEPTH_MAX, JSON_KEYS_MAX } from './limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Strict: invalid UTF-8 throws. A leading byte-order mark is dropped. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body. The returned text is the one that was parsed. Throws `invalid_request`
 * without a `param`, because invalid JSON has no fields to name.
 */
export function parseBody(bytes: Uint8Array): ParsedBody {
  if (bytes.length === 0) throw refuse('The request body is empty. Send a JSON object.');
  checkStructure(bytes);
  const text = repairSurrogates(decode(bytes));
  try {
    return { value: JSON.parse(text), text };
  } catch {
    throw refuse('The request body is not valid JSON.');
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw refuse('The request body is not valid UTF-8. Send JSON in UTF-8.');
  }
}

/**
 * Refuses excessive nesting or too many members, in one pass over the bytes. The parser checks that
 * brackets match: a body that confuses this scan is not JSON.
 */
function checkStructure(bytes: Uint8Array): void {
  let depth = 0;
  let keys = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    switch (bytes[index]) {
      case QUOTE:
        index = stringEnd(bytes, index);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        if (depth > JSON_DEPTH_MAX) {
          throw refuse(`The request body nests deeper than ${JSON_DEPTH_MAX} levels.`);
        }
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      case COLON:
        keys += 1;
        if (keys > JSON_KEYS_MAX) {
          throw refuse(`The request body has more than ${JSON_KEYS_MAX} object members.`);
        }
        break;
    }
  }
}

/** The index of the quote that closes the string opened at `start`, or the end of the bytes. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let quote = start;
  do {
    quote = bytes.indexOf(QUOTE, quote + 1);
    if (quote === -1) return bytes.length;
  } while (isEscapedByte(bytes, quote));
  return quote;
}

/** `isEscaped` over undecoded bytes. Runs never overlap, so the total time is linear. */
function isEscapedByte(bytes: Uint8Array, quote: number): boolean {
  let index = quote - 1;
  while (bytes[index] === BACKSLASH) index -= 1;
  return (quote - 1 - index) % 2 === 1;
}

function refuse(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}
