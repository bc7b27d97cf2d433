// The live feed of the customer's overview: what `live.ts` reads, as Server-Sent Events, whenever it
// has changed, at most once a second.

import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { createSpend } from '../../ledger/spend.ts';
import { createFeeds, type Feeds } from '../edge/feed.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import { type OwnDependencies, WHILE_INACTIVE } from './account.ts';
import { liveReader } from './live.ts';

export function feedRoutes(
  dependencies: OwnDependencies,
  feeds: Feeds = createFeeds(dependencies),
): readonly Route<SignedInCustomer>[] {
  const spend = createSpend(dependencies.store.database);
  return [
    sessionRoute({
      method: 'GET',
      path: '/feed',
      standings: WHILE_INACTIVE,
      quiet: true,
      handle: (call) =>
        feeds.open(call, {
          key: call.who.accountId,
          start: () => liveReader(dependencies, spend, call.who.accountId),
        }),
    }),
  ];
}
