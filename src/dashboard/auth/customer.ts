// Sign-in routes for customers only: sign-up, verification of the address, and deletion of the
// account. The response to a sign-up does not reveal whether the address is taken.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import type { SignIn } from '../../identity/sign-in/contract.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { publicRoute, type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type { DeletionRecord, MailedRecord, MailMode } from '../records/auth.ts';
import { EMAIL, PASSWORD, signInResponse, TOKEN, visitOf } from './http.ts';

export function customerRoutes(
  { customer }: SignIn,
  mailMode: MailMode,
): readonly (Route<SignedInCustomer> | Route<undefined>)[] {
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
      handle: async (call) => signInResponse(await customer.verifyEmail(call.body, visitOf(call))),
    }),
    stepUpRoute<SignedInCustomer>({
      method: 'POST',
      path: '/auth/deletion',
      handle: async (call): Promise<DeletionRecord> => ({
        object: 'deletion',
        due_at: isoTime(await customer.askDeletion(call.who, visitOf(call))),
      }),
    }),
    sessionRoute<SignedInCustomer>({
      method: 'DELETE',
      path: '/auth/deletion',
      standings: ['pending_deletion'],
      handle: (call) => customer.takeDeletionBack(call.who, visitOf(call)),
    }),
  ];
}
