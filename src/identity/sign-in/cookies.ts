// The cookies of sign-in: one for the session, one for a sign-in that waits for its second factor.
// `__Host-` binds them to this host and to HTTPS; each contains a secret of `digest.ts`.

import type { Realm } from '../signed-in.ts';

const HEADER_LENGTH_MAX = 8_192;

export const SESSION_COOKIES: Readonly<Record<Realm, string>> = {
  customer: '__Host-tollgate',
  operator: '__Host-tollgate-operator',
};

export function challengeCookieName(realm: Realm): string {
  return `${SESSION_COOKIES[realm]}-challenge`;
}

/** A `Set-Cookie` line. */
export function setCookie(name: string, value: string, maxAgeMs: number): string {
  return `${name}=${value}; Max-Age=${maxAgeMs / 1_000}; Path=/; HttpOnly; Secure; SameSite=Lax`;
}

/** The line that makes the browser remove a cookie. */
export function clearCookie(name: string): string {
  return setCookie(name, '', 0);
}

export function readCookie(headers: Headers, name: string): string | undefined {
  const header = headers.get('cookie') ?? '';
  if (header.length > HEADER_LENGTH_MAX) return undefined;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
