// The playground: generation as /v1 offers it, in the name of whoever is signed in and on the account's
// balance. What is asked and answered is the gateway's own business; this only opens the door to it.

import type { ClientFormatName } from '../../core/admit.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import { type Route, sessionRoute } from '../edge/route.ts';

export function playgroundRoutes({
  answerPlayground,
}: Pick<DashboardDependencies, 'answerPlayground'>): readonly Route<SignedInCustomer>[] {
  const generation = (path: string, format: ClientFormatName): Route<SignedInCustomer> =>
    sessionRoute({
      method: 'POST',
      path,
      // The gateway refuses them itself, in the words and the envelope of /v1.
      standings: ['suspended', 'pending_deletion', 'blocked'],
      body: 'unread',
      async handle({ who: { accountId }, address, request, server, requestId }) {
        const call = { accountId, address, request, server, requestId };
        const response = await answerPlayground(format, call);
        response.headers.set('cache-control', 'no-store');
        return response;
      },
    });
  return [
    generation('/playground/chat/completions', 'chat'),
    generation('/playground/messages', 'messages'),
  ];
}
