// What the routes of signing in share: what they take, and how cookies leave.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import type { RealmSignIn, SignInOutcome } from '../../identity/sign-in/contract.ts';
import type { SignedIn, Visit } from '../../identity/signed-in.ts';
import { STEP_UP_MS } from '../edge/guard.ts';
import type { RouteCall } from '../edge/route.ts';
import type { MailMode, SignInRecord } from '../records/auth.ts';

export type AuthDependencies<Who extends SignedIn = SignedIn> = {
  readonly realm: RealmSignIn<Who>;
  readonly mailMode: MailMode;
};

/** Longer ones are refused before they are hashed. */
export const PASSWORD = Type.String({ minLength: 1, maxLength: 256 });
export const EMAIL = Type.String({ minLength: 3, maxLength: 254 });
export const TOKEN = Type.String({ minLength: 1, maxLength: 100 });

/** The owner of an account can look after their own sign-in in each standing. */
export const EVERY_STANDING = ['suspended', 'pending_deletion', 'blocked'] as const;

export const visitOf = ({ request, address }: RouteCall<unknown, unknown, unknown>): Visit => ({
  headers: request.headers,
  address,
});

/** A response of 200 with a body, or of 204 without one. */
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
