// The start page of the console and its live feed, the same for all operators.

import { isoTime } from '../../core/calendar.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { createFeeds } from '../edge/feed.ts';
import { type OperatorRoutes, viewRoute } from '../edge/route.ts';
import type { OperatorOverviewRecord } from '../records/operator-server.ts';
import { machineReader } from './server.ts';

export function overviewRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const feeds = createFeeds(dependencies);
  const read = machineReader(dependencies);
  return [
    viewRoute({
      path: '/overview',
      async handle(): Promise<OperatorOverviewRecord> {
        const { version, startedAt } = dependencies.machine.node();
        const { data } = await read();
        return { version, started_at: isoTime(startedAt), live: data };
      },
    }),
    viewRoute({
      path: '/feed',
      quiet: true,
      // The feed limit is per operator; the data is the same for all.
      handle: (call) => feeds.open(call, { key: call.who.userId, start: () => read }),
    }),
  ];
}
