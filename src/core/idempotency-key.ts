// Reads the `Idempotency-Key` header of draft-ietf-httpapi-idempotency-key-header.

import { invalidRequest } from './error.ts';

/**
 * Names a request by its body, for coding agents: their configuration can add one header to all
 * requests, but no key to each.
 */
export const BODY_KEY = '@body';

/** Room for a UUID and the names of a batch and a step. */
const KEY_LENGTH_MAX = 255;

/** Visible ASCII and inner spaces; a header with other bytes arrives differently at every server. */
const KEY_SHAPE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** A string of RFC 9651, as the draft writes it: `"8e03978e-40d5"`. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/**
 * The key that a header names. Clients send it bare more often than quoted, so both are accepted
 * and mean the same key. Throws `invalid_request`.
 */
export function readIdempotencyKey(header: string): string {
  const text = header.trim();
  const quoted = QUOTED.exec(text)?.[1];
  const key = quoted === undefined ? text : quoted.replaceAll(/\\(["\\])/g, '$1');
  if (key.length > KEY_LENGTH_MAX) {
    throw invalidRequest('Idempotency-Key', `must have at most ${KEY_LENGTH_MAX} characters.`);
  }
  if (!KEY_SHAPE.test(key)) {
    throw invalidRequest('Idempotency-Key', 'must be visible ASCII characters, at least one.');
  }
  return key;
}
