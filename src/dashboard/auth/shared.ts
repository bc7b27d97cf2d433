// Sign-in routes of both applications. Thin: `src/identity/sign-in/` contains the rules and the rate
// limits. No response reveals whether an address is known.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import type { Permission } from '../../core/role.ts';
import type { SignedIn } from '../../identity/signed-in.ts';
import { publicRoute, type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type {
  MailedRecord,
  RecoveryCodesRecord,
  SessionListRecord,
  StepUpRecord,
  TwoFactorStartRecord,
} from '../records/auth.ts';
import {
  type AuthDependencies,
  EMAIL,
  PASSWORD,
  provenUntil,
  signInResponse,
  TOKEN,
  visitOf,
  withCookies,
} from './http.ts';

/** Of all routes for the own sign-in, which owners can manage in every status of the account. */
const OWN = {
  permission: 'sign-in.own',
  standings: ['suspended', 'pending_deletion', 'blocked'],
} as const;

const CODE = Type.String({ minLength: 6, maxLength: 20 });

export function sharedRoutes(
  dependencies: AuthDependencies,
): readonly (Route<SignedIn, Permission> | Route<undefined>)[] {
  const own = [...sessionRoutes(dependencies), ...twoFactorRoutes(dependencies)];
  return [...visitorRoutes(dependencies), ...own.map((route) => ({ ...route, ...OWN }))];
}

function visitorRoutes({ realm, mailMode }: AuthDependencies): readonly Route<undefined>[] {
  return [
    publicRoute({
      method: 'POST',
      path: '/auth/login',
      body: { email: EMAIL, password: PASSWORD },
      handle: async (call) => signInResponse(await realm.signIn(call.body, visitOf(call))),
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/login/second-factor',
      body: { code: CODE },
      handle: async (call) =>
        signInResponse(await realm.secondFactor(call.body.code, visitOf(call))),
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/logout',
      handle: async (call) => withCookies(await realm.signOut(visitOf(call))),
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/password/forgot',
      body: { email: EMAIL },
      async handle(call): Promise<MailedRecord> {
        await realm.forgotPassword(call.body.email, visitOf(call));
        return { object: 'mailed', mail: mailMode };
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/password/reset',
      body: { token: TOKEN, password: PASSWORD },
      async handle(call) {
        const outcome = await realm.resetPassword(call.body, visitOf(call));
        return outcome && signInResponse(outcome);
      },
    }),
  ];
}

function sessionRoutes({ realm }: AuthDependencies): readonly Route<SignedIn>[] {
  return [
    sessionRoute({
      method: 'POST',
      path: '/auth/step-up',
      body: { password: PASSWORD },
      async handle(call) {
        const { password } = call.body;
        const { provenAt, cookies } = await realm.stepUp(call.who, password, visitOf(call));
        const record: StepUpRecord = { object: 'step_up', proven_until: provenUntil(provenAt) };
        return withCookies(cookies, record);
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/auth/password/change',
      body: { current: PASSWORD, password: PASSWORD },
      handle: async (call) =>
        withCookies(await realm.changePassword(call.who, call.body, visitOf(call))),
    }),
    sessionRoute({
      method: 'GET',
      path: '/auth/sessions',
      handle: async ({ who }): Promise<SessionListRecord> => ({
        object: 'list',
        data: (await realm.sessions(who)).map((row) => ({
          id: row.id,
          object: 'listed_session',
          current: row.id === who.sessionId,
          created_at: isoTime(row.createdAt),
          last_seen_at: isoTime(row.lastSeenAt),
          expires_at: isoTime(row.expiresAt),
          address: row.address,
          user_agent: row.userAgent,
        })),
      }),
    }),
    sessionRoute({
      method: 'DELETE',
      path: '/auth/sessions/:id',
      handle: (call) => realm.endSession(call.who, call.param('id'), visitOf(call)),
    }),
    sessionRoute({
      method: 'DELETE',
      path: '/auth/sessions',
      handle: (call) => realm.endOtherSessions(call.who, visitOf(call)),
    }),
  ];
}

function twoFactorRoutes({ realm }: AuthDependencies): readonly Route<SignedIn>[] {
  const codesRecord = (codes: readonly string[]): RecoveryCodesRecord => ({
    object: 'recovery_codes',
    codes,
  });

  return [
    stepUpRoute({
      method: 'POST',
      path: '/auth/two-factor',
      handle: async ({ who }): Promise<TwoFactorStartRecord> => ({
        object: 'two_factor_start',
        ...(await realm.startTwoFactor(who)),
      }),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/auth/two-factor/confirm',
      body: { code: CODE },
      async handle(call) {
        const { code } = call.body;
        const { codes, cookies } = await realm.confirmTwoFactor(call.who, code, visitOf(call));
        return withCookies(cookies, codesRecord(codes));
      },
    }),
    stepUpRoute({
      method: 'DELETE',
      path: '/auth/two-factor',
      handle: async (call) => withCookies(await realm.disableTwoFactor(call.who, visitOf(call))),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/auth/two-factor/recovery-codes',
      handle: async (call) => codesRecord(await realm.renewRecoveryCodes(call.who, visitOf(call))),
    }),
  ];
}
