// Signing in and out, in both applications. Thin: what is right and how often it may be tried is
// decided by `src/identity/sign-in/`.

import { Type } from '@sinclair/typebox';
import type { SignedIn } from '../../identity/signed-in.ts';
import { publicRoute, type Route, sessionRoute } from '../edge/route.ts';
import type { StepUpRecord } from '../records/auth.ts';
import {
  type AuthDependencies,
  EVERY_STANDING,
  provenUntil,
  signInRecord,
  visitOf,
  withCookies,
} from './parts.ts';

/** Longer ones are refused before anything is hashed. */
export const PASSWORD = Type.String({ minLength: 1, maxLength: 256 });
export const EMAIL = Type.String({ minLength: 3, maxLength: 254 });
export const CODE = Type.String({ minLength: 6, maxLength: 20 });
export const TOKEN = Type.String({ minLength: 1, maxLength: 100 });

export function entranceRoutes<Who extends SignedIn>({
  realm,
}: AuthDependencies<Who>): readonly (Route<Who> | Route<undefined>)[] {
  return [
    publicRoute({
      method: 'POST',
      path: '/auth/login',
      body: { email: EMAIL, password: PASSWORD },
      async handle(call) {
        const { status, cookies } = await realm.signIn(call.body, visitOf(call));
        return withCookies(cookies, signInRecord(status));
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/login/second-factor',
      body: { code: CODE },
      async handle(call) {
        const { status, cookies } = await realm.secondFactor(call.body.code, visitOf(call));
        return withCookies(cookies, signInRecord(status));
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/logout',
      handle: async (call) => withCookies(await realm.signOut(visitOf(call))),
    }),
    sessionRoute<Who, { password: typeof PASSWORD }>({
      method: 'POST',
      path: '/auth/step-up',
      standings: EVERY_STANDING,
      body: { password: PASSWORD },
      async handle(call) {
        const { provenAt, cookies } = await realm.stepUp(
          call.who,
          call.body.password,
          visitOf(call),
        );
        const record: StepUpRecord = { object: 'step_up', proven_until: provenUntil(provenAt) };
        return withCookies(cookies, record);
      },
    }),
  ];
}
