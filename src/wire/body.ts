// Parses the bytes of a request body, once per request, before either client format sees it. Bounds
// the parser's time and stack use, and never repeats the caller's text in a refusal.

import { GatewayError } from '../core/error.ts';
import { JSON_WEIGHT_MAX, weighJson } from '../core/json-weight.ts';
import type { ParsedBody } from './format.ts';
import { repairSurrogates } from './json.ts';

/** Strict: invalid UTF-8 throws. A leading byte-order mark is dropped. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body. The returned text is the one that was parsed. Throws `invalid_request`
 * without a `param`, because invalid JSON has no fields to name. `seed`: see `weighJson`.
 */
export function parseBody(bytes: Uint8Array, seed = 0): ParsedBody {
  if (bytes.length === 0) throw refuse('The request body is empty. Send a JSON object.');
  requireWeight(bytes, seed);
  const text = repairSurrogates(decode(bytes));
  try {
    return { value: JSON.parse(text), text };
  } catch {
    throw notJson();
  }
}

export function notJson(): GatewayError {
  return refuse('The request body is not valid JSON.');
}

/** Whether a text has an escape that `repairSurrogates` has to read. */
export function mayHaveSurrogate({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes('\\u');
}

export function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw refuse('The request body is not valid UTF-8. Send JSON in UTF-8.');
  }
}

const EXCESSES = {
  depth: `nests deeper than ${JSON_WEIGHT_MAX.depth} levels`,
  members: `has more than ${JSON_WEIGHT_MAX.members} object members; a name that is a number counts as up to 1,000`,
  values: `has more than ${JSON_WEIGHT_MAX.values} values`,
  words: `has more than ${JSON_WEIGHT_MAX.words} different names of members and short strings`,
};

/** Throws `invalid_request` if the parser would take too long. `seed`: see `weighJson`. */
export function requireWeight(bytes: Uint8Array, seed: number | undefined): void {
  const { excess } = weighJson(bytes, JSON_WEIGHT_MAX, seed);
  if (excess !== undefined) throw refuse(`The request body ${EXCESSES[excess]}.`);
}

function refuse(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}
