// The playground: generation as in /v1 for the signed-in user, charged to the account. The gateway
// handles the request; this route only authorizes it.

import type { ClientFormatName } from '../../core/admit.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import { type CustomerRoutes, type Route, sessionRoute } from '../edge/route.ts';

export function playgroundRoutes({
  answerPlayground,
}: Pick<DashboardDependencies, 'answerPlayground'>): CustomerRoutes {
  const generation = (path: string, format: ClientFormatName): Route<SignedInCustomer> =>
    sessionRoute({
      method: 'POST',
      path,
      // The gateway rejects them with the errors of /v1.
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
