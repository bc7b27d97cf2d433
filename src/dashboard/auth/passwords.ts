// Forgotten, new and changed passwords, in both applications. An answer never tells whether an
// address is known.

import type { SignedIn } from '../../identity/signed-in.ts';
import { publicRoute, type Route, sessionRoute } from '../edge/route.ts';
import type { MailedRecord } from '../records/auth.ts';
import { EMAIL, PASSWORD, TOKEN } from './entrance.ts';
import { type AuthDependencies, EVERY_STANDING, visitOf, withCookies } from './parts.ts';

export function passwordRoutes<Who extends SignedIn>({
  realm,
  mailMode,
}: AuthDependencies<Who>): readonly (Route<Who> | Route<undefined>)[] {
  return [
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
      handle: (call) => realm.resetPassword(call.body, visitOf(call)),
    }),
    sessionRoute<Who, { current: typeof PASSWORD; password: typeof PASSWORD }>({
      method: 'POST',
      path: '/auth/password/change',
      standings: EVERY_STANDING,
      body: { current: PASSWORD, password: PASSWORD },
      handle: async (call) =>
        withCookies(await realm.changePassword(call.who, call.body, visitOf(call))),
    }),
  ];
}
