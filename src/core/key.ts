// Which API key a caller presents, read from the two header forms before any lookup. Called once a
// request. It never says whether a key exists: only whether there is one that could.

import { isWellFormedKey } from './id.ts';

export type PresentedKey =
  | { readonly kind: 'missing' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'key'; readonly key: string };

/** A longer header is refused unread: no caller makes us scan or hash its kilobytes. */
const HEADER_LENGTH_MAX = 256;

const MISSING: PresentedKey = { kind: 'missing' };
const MALFORMED: PresentedKey = { kind: 'malformed' };

/**
 * Reads `Authorization: Bearer <key>` and `x-api-key: <key>`. A blank header counts as absent. Two
 * headers must hold the same key: a request never has two identities.
 * A header sent twice arrives joined by a comma, which no key contains.
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

/** Only what HTTP calls white space: a line break or a NUL is not blank, it is malformed. */
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
