// Signing up, and verifying the address: for customers alone. The answer to a sign-up is the same
// whether the address is taken or not.

import { Type } from '@sinclair/typebox';
import type { SignIn } from '../../identity/sign-in/contract.ts';
import { publicRoute, type Route } from '../edge/route.ts';
import type { MailedRecord, MailMode } from '../records/auth.ts';
import { EMAIL, PASSWORD, TOKEN } from './entrance.ts';
import { signInRecord, visitOf, withCookies } from './parts.ts';

export function signUpRoutes(
  { customer }: SignIn,
  mailMode: MailMode,
): readonly Route<undefined>[] {
  return [
    publicRoute({
      method: 'POST',
      path: '/auth/signup',
      body: { email: EMAIL, password: PASSWORD, invite: Type.Optional(TOKEN) },
      async handle(call): Promise<MailedRecord> {
        await customer.signUp(call.body, visitOf(call));
        return { object: 'mailed', mail: mailMode };
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/verify-email',
      body: { token: TOKEN, password: PASSWORD },
      async handle(call) {
        const { status, cookies } = await customer.verifyEmail(call.body, visitOf(call));
        return withCookies(cookies, signInRecord(status));
      },
    }),
  ];
}
