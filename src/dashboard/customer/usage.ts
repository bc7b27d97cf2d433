// Usage over time: total, or by model, key or end user, of all requests or of some. Read-only, from
// precomputed series, so a year costs as much as a day.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { sumFigures } from '../../ledger/series/figures.ts';
import { createSeriesReader } from '../../ledger/series/read.ts';
import { createSpeedReader } from '../../ledger/series/speeds.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import { END_USER } from '../edge/request-query.ts';
import { type CustomerRoutes, oneOf } from '../edge/route.ts';
import type { ReadTurns } from '../edge/turns.ts';
import { PERIOD_QUERY, periodRecord, readPeriod } from '../period.ts';
import type { UsageRecord } from '../records/customer-usage.ts';
import type { SpeedsRecord } from '../records/speeds.ts';
import { speedsRecord } from '../speeds.ts';
import { type OwnDependencies, readRoute } from './account.ts';
import { keyNames } from './key-names.ts';
import {
  figuresRecord,
  type GroupName,
  groupRecord,
  groupsOf,
  pointsOf,
  seriesOf,
} from './usage-series.ts';

const FILTER = {
  /** The model that served or the requested one. */
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  key: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  end_user: END_USER,
};

export const USAGE_QUERY = {
  ...PERIOD_QUERY,
  ...FILTER,
  group_by: Type.Optional(oneOf(['total', 'model', 'key', 'end_user'])),
  /** The groups with the most of it get a series of their own. */
  measure: Type.Optional(oneOf(['spent', 'requests', 'tokens', 'failed'])),
};

export function usageRoutes(dependencies: OwnDependencies, inTurn: ReadTurns): CustomerRoutes {
  const { store, serviceState, clock } = dependencies;
  const readSpeeds = createSpeedReader(store.database);
  const read = createUsageReader({ store, clock, catalog: () => serviceState().catalog });

  return [
    readRoute({
      path: '/usage',
      query: USAGE_QUERY,
      handle: ({ who: { accountId }, query, request }): Promise<UsageRecord> =>
        inTurn(accountId, request, () => read(accountId, query)),
    }),
    readRoute({
      path: '/usage/speeds',
      query: { ...PERIOD_QUERY, model: FILTER.model },
      async handle({ who: { accountId: subject }, query }): Promise<SpeedsRecord> {
        const period = readPeriod(query, clock());
        const { edges } = period;
        return speedsRecord(period, await readSpeeds({ subject, edges, model: query.model }));
      },
    }),
  ];
}

/** Reads the usage of an account, for its owner and for operators. */
export function createUsageReader({
  store,
  clock,
  catalog,
}: Pick<ConsoleDependencies, 'store' | 'clock' | 'catalog'>) {
  const readSeries = createSeriesReader(store.database);

  return async (
    accountId: string,
    query: Static<TObject<typeof USAGE_QUERY>>,
  ): Promise<UsageRecord> => {
    const { group_by: groupBy = 'total', measure = 'spent' } = query;
    const only = { model: query.model, keyId: query.key, endUser: query.end_user };
    // End users are counted per day.
    const wholeDays = groupBy === 'end_user' || query.end_user !== undefined;
    const period = readPeriod(query, clock(), wholeDays);
    const { edges, before } = period;
    const series = await readSeries({ accountId, edges, groupBy, only });
    const last = await readSeries({ accountId, edges: before, groupBy: 'total', only });
    const { usdPerMillion } = catalog();
    const groups = await groupsOf(series, measure);
    const { shown, count, total } = groups;
    const nameOf: GroupName =
      groupBy === 'key'
        ? await keyNames(
            store,
            accountId,
            shown.map(({ group }) => group),
          )
        : (group) => group;
    return {
      object: 'usage',
      group_by: groupBy,
      ...periodRecord(period),
      total: figuresRecord(total, usdPerMillion),
      groups: shown.map((group) => groupRecord(group, groupBy, nameOf, usdPerMillion)),
      groups_left_out: count - shown.length,
      series: await seriesOf(series, groups, groupBy, nameOf, usdPerMillion),
      before: {
        from: isoTime(before[0] ?? 0),
        to: isoTime(before.at(-1) ?? 0),
        total: figuresRecord(sumFigures(last.cells.map(({ figures }) => figures)), usdPerMillion),
        points: pointsOf(last.cells, usdPerMillion),
      },
      counted_from: series.firstBucket === 0 ? null : isoTime(edges[series.firstBucket] ?? 0),
      behind: series.behind,
    };
  };
}
