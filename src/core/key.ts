// Reads the API key of a request from either header, before any lookup. It does not say whether the
// key exists, only whether one was presented.

import { isWellFormedKey } from './id.ts';

export type PresentedKey =
  | { readonly kind: 'missing' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'key'; readonly key: string };

/** A longer header is refused unread, so that callers cannot make us scan or hash kilobytes. */
const HEADER_LENGTH_MAX = 256;

const MISSING: PresentedKey = { kind: 'missing' };
const MALFORMED: PresentedKey = { kind: 'malformed' };

/**
 * Reads `Authorization: Bearer <key>` and `x-api-key: <key>`. A blank header counts as absent. Two
 * headers must hold the same key, because a request has only one identity. A header sent twice
 * arrives joined by a comma, which no key contains.
 */
export function readPresentedKey(
  authorization: string | null,
  xApiKey: string | null,
): PresentedKey {
  const bearer = readAuthorization(authorization);
  const plain = readKeyHeader(xApiKey);
  if (bearer.kind === 'missing') return plain;
  if (plain.kind === 'missing') return bearer;
  if (bearer.kind === 'malformed' || plain.kind === 'malformed') return MALFORMED;
  return bearer.key === plain.key ? bearer : MALFORMED;
}

const BEARER = /^bearer(?: +(.*))?$/i;

/** HTTP white space only: a line break or a NUL makes the header malformed, not blank. */
const BLANK = /^[ \t]*$/;

function readAuthorization(header: string | null): PresentedKey {
  if (header === null) return MISSING;
  if (header.length > HEADER_LENGTH_MAX) return MALFORMED;
  const match = BEARER.exec(header);
  if (match !== null) return readKeyHeader(match[1] ?? '');
  return BLANK.test(header) ? MISSING : MALFORMED;
}

function readKeyHeader(header: string | null): PresentedKey {
  if (header === null) return MISSING;
  if (header.length > HEADER_LENGTH_MAX) return MALFORMED;
  if (isWellFormedKey(header)) return { kind: 'key', key: header };
  return BLANK.test(header) ? MISSING : MALFORMED;
}
