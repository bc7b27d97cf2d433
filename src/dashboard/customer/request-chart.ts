// The account's requests over time by how they ended, refused ones included. Read-only.

import { Type } from '@sinclair/typebox';
import { DAY_MS, isoTime } from '../../core/calendar.ts';
import { HOUR_MS } from '../../ledger/series/figures.ts';
import { createSeriesReader } from '../../ledger/series/read.ts';
import { createRefusalList } from '../../refusals/list.ts';
import { invalidRequest } from '../edge/error.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import { readPeriod, STEPS_MAX } from '../period.ts';
import type { RequestChartRecord } from '../records/customer-request.ts';
import { type OwnDependencies, readRoute } from './account.ts';

export function requestChartRoutes({ store, clock }: OwnDependencies): CustomerRoutes {
  const readSeries = createSeriesReader(store.database);
  const refusals = createRefusalList(store.database);
  return [
    readRoute({
      path: '/requests/chart',
      query: { from: Type.String({ maxLength: 40 }), to: Type.String({ maxLength: 40 }) },
      async handle({ who: { accountId }, query }): Promise<RequestChartRecord> {
        const { step, edges } = readPeriod(query, clock());
        if (step === 'month') {
          throw invalidRequest(`Choose a period of at most ${STEPS_MAX} days.`, 'to');
        }
        const stepMs = step === 'hour' ? HOUR_MS : DAY_MS;
        const [first = 0, last = 0] = [edges[0], edges.at(-1)];
        const [{ cells }, refused] = await Promise.all([
          readSeries({ accountId, edges, groupBy: 'total' }),
          refusals.counts({ accountId, fromMs: first, untilMs: last }, stepMs),
        ]);
        const empty = () => Array.from({ length: edges.length - 1 }, () => 0);
        const chart = { completed: empty(), cancelled: empty(), failed: empty(), refused: empty() };
        const add = (of: number[], bucket: number, more: number) => {
          of[bucket] = (of[bucket] ?? 0) + more;
        };
        for (const { bucket, figures } of cells) {
          const { requests, cancelled, failed } = figures;
          add(chart.completed, bucket, requests - cancelled - failed);
          add(chart.cancelled, bucket, cancelled);
          add(chart.failed, bucket, failed);
        }
        for (const { bucket, requests } of refused) {
          add(chart.refused, (bucket - first) / stepMs, requests);
        }
        return { buckets: edges.slice(0, -1).map(isoTime), step, ...chart };
      },
    }),
  ];
}
