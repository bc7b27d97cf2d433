// One call of the library: what of a request it is shown, which of its cookies are passed on, and
// what its refusals are called here.

import { IdentityError } from '../error.ts';
import type { Realm } from '../signed-in.ts';
import type { Cookies, Visit } from './contract.ts';
import { cookieOf, sessionCookieName, shownUserAgent } from './sessions.ts';

/** What authenticator apps show. */
export const ISSUER = 'Tollgate';

/** Where the library finds the client's address; set by us alone. */
export const ADDRESS_HEADER = 'x-tollgate-address';

export function challengeCookieName(realm: Realm): string {
  return `${sessionCookieName(realm)}-challenge`;
}

/** The headers that the library sees: ours, and one cookie where it needs one. */
export function shownHeaders({ headers, address }: Visit, cookieName?: string): Headers {
  const shown = new Headers({ 'user-agent': shownUserAgent(headers), [ADDRESS_HEADER]: address });
  const value = cookieName === undefined ? undefined : cookieOf(headers, cookieName);
  if (value !== undefined) shown.set('cookie', `${cookieName}=${encodeURIComponent(value)}`);
  return shown;
}

/** Its `Set-Cookie` lines, as far as they are about its session and its challenge. */
export function passedCookies(headers: Headers, realm: Realm): Cookies {
  const names = [sessionCookieName(realm), challengeCookieName(realm)];
  return headers.getSetCookie().filter((line) => names.includes(line.split('=')[0] ?? ''));
}

/** The headers of a browser that was given these cookies. */
export function cookiesBack(cookies: Cookies): Headers {
  return new Headers({ cookie: cookies.map((line) => line.split(';')[0] ?? '').join('; ') });
}

/** The library's codes that mean one thing to whoever signs in. */
const WRONG_CODE = ['INVALID_CODE', 'INVALID_BACKUP_CODE'];
const CHALLENGE_OVER = [
  'INVALID_TWO_FACTOR_COOKIE',
  'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE',
  'TOTP_NOT_ENABLED',
  'BACKUP_CODES_NOT_ENABLED',
];

export function wrongCredentials(): IdentityError {
  return new IdentityError(
    'invalid_credentials',
    'The e-mail address or the password is not right. If you have just signed up, open the link in the mail first.',
  );
}

export function wrongCode(): IdentityError {
  return new IdentityError(
    'invalid_code',
    'The code is not right, or it was used already. Wait for the next one and try again.',
  );
}

export function challengeOver(): IdentityError {
  return new IdentityError(
    'sign_in_again',
    'This sign-in took too long or had too many wrong codes. Enter your password again.',
  );
}

/** What the library refused, in our words; an error of its own is thrown on. */
export function refusalOfLibrary(error: unknown): unknown {
  const { status, statusCode, body } = error as {
    readonly status?: unknown;
    readonly statusCode?: unknown;
    readonly body?: { readonly code?: unknown };
  };
  const code = String(body?.code ?? '');
  if (WRONG_CODE.includes(code) || status === 'CONFLICT') return wrongCode();
  if (CHALLENGE_OVER.includes(code)) return challengeOver();
  return statusCode === 401 || statusCode === 403 ? wrongCredentials() : error;
}
