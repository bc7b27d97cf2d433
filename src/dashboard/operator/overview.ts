// The start page of the console and its live feed, the same for all operators.

import { isoTime } from '../../core/calendar.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { createFeeds } from '../edge/feed.ts';
import { type List, wholeList } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type { AlertRecord, OperatorOverviewRecord } from '../records/operator-server.ts';
import { alertRecords, machineReader } from './server.ts';

/** More than are stored. */
const ALL_ALERTS = 1_000;

export function overviewRoutes(
  dependencies: MachineDependencies,
): readonly Route<SignedInOperator>[] {
  const feeds = createFeeds(dependencies);
  const read = machineReader(dependencies);
  return [
    sessionRoute({
      method: 'GET',
      path: '/overview',
      async handle(): Promise<OperatorOverviewRecord> {
        const { version, startedAt } = dependencies.machine.node();
        const { data } = await read();
        return { version, started_at: isoTime(startedAt), live: data };
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/feed',
      quiet: true,
      // The feed limit is per operator; the data is the same for all.
      handle: (call) => feeds.open(call, { key: call.who.userId, start: () => read }),
    }),
    sessionRoute({
      method: 'GET',
      path: '/alerts',
      quiet: true,
      handle: (): List<AlertRecord> => wholeList(alertRecords(dependencies, ALL_ALERTS)),
    }),
  ];
}
