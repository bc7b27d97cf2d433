// Shared parts of the sign-in routes: schemas and cookies.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import type { RealmSignIn, SignInOutcome } from '../../identity/sign-in/contract.ts';
import type { SignedIn, Visit } from '../../identity/signed-in.ts';
import type { RouteCall } from '../edge/route.ts';
import { STEP_UP_MS } from '../edge/sessions.ts';
import type { MailMode, SignInRecord } from '../records/auth.ts';

export type AuthDependencies<Who extends SignedIn = SignedIn> = {
  readonly realm: RealmSignIn<Who>;
  readonly mailMode: MailMode;
};

/** Longer passwords are rejected before hashing. */
export const PASSWORD = Type.String({ minLength: 1, maxLength: 256 });
export const EMAIL = Type.String({ minLength: 3, maxLength: 254 });
export const TOKEN = Type.String({ minLength: 1, maxLength: 100 });

export const visitOf = ({ request, address }: RouteCall<unknown, unknown, unknown>): Visit => ({
  headers: request.headers,
  address,
});

/** A 200 response with a body, or 204 without one. */
export function withCookies(cookies: readonly string[], body?: object): Response {
  const response = body === undefined ? new Response(null, { status: 204 }) : Response.json(body);
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

export function signInResponse({ status, cookies }: SignInOutcome): Response {
  const record: SignInRecord = { object: 'sign_in', status };
  return withCookies(cookies, record);
}

export function provenUntil(provenAt: number): string {
  return isoTime(provenAt + STEP_UP_MS);
}
