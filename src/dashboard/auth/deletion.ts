// The deletion of an account by its owner, and taking that back, for customers.

import { isoTime } from '../../core/calendar.ts';
import type { SignIn } from '../../identity/sign-in/contract.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type { DeletionRecord } from '../records/auth.ts';
import { visitOf } from './parts.ts';

export function deletionRoutes({ customer }: SignIn): readonly Route<SignedInCustomer>[] {
  return [
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
