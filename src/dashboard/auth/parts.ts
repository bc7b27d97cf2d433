// What the routes of signing in share: how they are built, and how cookies leave.

import { isoTime } from '../../core/calendar.ts';
import type { RealmSignIn, SignIn } from '../../identity/sign-in/contract.ts';
import type { SignedIn, Visit } from '../../identity/signed-in.ts';
import { STEP_UP_MS } from '../edge/guard.ts';
import type { Call } from '../edge/route.ts';
import type { MailMode, SignInRecord } from '../records/auth.ts';

export type AuthDependencies<Who extends SignedIn> = {
  readonly signIn: SignIn;
  readonly realm: RealmSignIn<Who>;
  readonly mailMode: MailMode;
};

/** Whatever an account may be in: its owner can always look after their own sign-in. */
export const EVERY_STANDING = ['suspended', 'pending_deletion', 'blocked'] as const;

export const visitOf = ({ request, address }: Call<unknown, unknown, unknown>): Visit => ({
  headers: request.headers,
  address,
});

/** A response of 200 with a body, or of 204 without one. */
export function withCookies(cookies: readonly string[], body?: object): Response {
  const response = body === undefined ? new Response(null, { status: 204 }) : Response.json(body);
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

export function signInRecord(status: SignInRecord['status']): SignInRecord {
  return { object: 'sign_in', status };
}

export function provenUntil(provenAt: number): string {
  return isoTime(provenAt + STEP_UP_MS);
}
