// Usage over time: total, or by model, key or end user. Read-only, from precomputed series, so a
// year costs as much as a day.

import { Type } from '@sinclair/typebox';
import { DAY_MS, isoTime } from '../../core/calendar.ts';
import { PLAYGROUND_KEY_ID } from '../../core/id.ts';
import { parseInstant } from '../../core/instant.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import type { Buckets, Cell } from '../../ledger/series/buckets.ts';
import { type Figures, HOUR_MS, sumFigures } from '../../ledger/series/figures.ts';
import { createSeriesReader } from '../../ledger/series/read.ts';
import { DashboardError } from '../edge/error.ts';
import { oneOf, type Route, sessionRoute } from '../edge/route.ts';
import type {
  UsageFiguresRecord,
  UsageGroupRecord,
  UsageRecord,
  UsageSeriesRecord,
} from '../records/customer-usage.ts';
import { type OwnDependencies, WHILE_INACTIVE } from './account.ts';

/** More than a year of days, or 16 days of hours. */
const BUCKETS_MAX = 400;

const GROUPS_SHOWN = 100;
/** All other groups form one more series. */
const SERIES_SHOWN = 5;

const STEP_MS = { hour: HOUR_MS, day: DAY_MS };

const QUERY = {
  from: Type.String({ maxLength: 40 }),
  to: Type.String({ maxLength: 40 }),
  step: Type.Optional(oneOf(['hour', 'day'])),
  group_by: Type.Optional(oneOf(['total', 'model', 'key', 'end_user'])),
};

export function usageRoutes({
  store,
  operator,
}: OwnDependencies): readonly Route<SignedInCustomer>[] {
  const readSeries = createSeriesReader(store.database);

  return [
    sessionRoute({
      method: 'GET',
      path: '/usage',
      standings: WHILE_INACTIVE,
      query: QUERY,
      async handle({ who: { accountId }, query }): Promise<UsageRecord> {
        const groupBy = query.group_by ?? 'total';
        // End users are counted per day.
        const step = groupBy === 'end_user' ? 'day' : (query.step ?? 'day');
        const edges = edgesOf(
          readTime(query.from, 'from'),
          readTime(query.to, 'to'),
          STEP_MS[step],
        );
        const series = await readSeries({ accountId, edges, groupBy });
        const { usdPerMillion } = operator().catalog;
        const nameOf =
          groupBy === 'key' ? await keyNames(store, accountId) : (group: string) => group;
        const groups = groupsOf(series);
        const total = sumFigures(groups.map(({ figures }) => figures));
        return {
          object: 'usage',
          group_by: groupBy,
          step,
          buckets: edges.slice(0, -1).map(isoTime),
          to: isoTime(edges.at(-1) ?? 0),
          total: figuresRecord(total, usdPerMillion),
          groups: groups.slice(0, GROUPS_SHOWN).map(
            ({ group, figures }): UsageGroupRecord => ({
              group,
              name: nameOf(group),
              figures: figuresRecord(figures, usdPerMillion),
            }),
          ),
          groups_left_out: Math.max(0, groups.length - GROUPS_SHOWN),
          series: seriesOf(series, groups, nameOf),
          counted_from: series.firstBucket === 0 ? null : isoTime(edges[series.firstBucket] ?? 0),
          behind: series.behind,
        };
      },
    }),
  ];
}

/** A time in a query. Throws `invalid_request`. */
export function readTime(text: string, param: string): number {
  const ms = parseInstant(text);
  if (ms !== undefined) return ms;
  throw new DashboardError(
    'invalid_request',
    `The field ${param} of the query is not a valid time. Include the time zone, such as 2026-11-01T00:00:00Z.`,
    { param },
  );
}

/** Rounds the period outward to whole steps. */
function edgesOf(fromMs: number, toMs: number, stepMs: number): readonly number[] {
  const first = Math.floor(fromMs / stepMs);
  const count = Math.ceil(toMs / stepMs) - first;
  if (count < 1 || count > BUCKETS_MAX) {
    throw new DashboardError(
      'invalid_request',
      count < 1
        ? 'The period ends before it starts. Choose a later end.'
        : `The period exceeds ${BUCKETS_MAX} steps. Choose a shorter period.`,
      { param: 'to' },
    );
  }
  return Array.from({ length: count + 1 }, (_, index) => (first + index) * stepMs);
}

type Group = { readonly group: string; readonly figures: Figures };

/** Complete groups by spend, highest first. */
function groupsOf({ cells }: Buckets<Figures>): readonly Group[] {
  return [...Map.groupBy(cells, ({ group }) => group)]
    .map(([group, of]) => ({ group, figures: sumFigures(of.map(({ figures }) => figures)) }))
    .sort((a, b) => compare(b.figures.debited, a.figures.debited) || (a.group < b.group ? -1 : 1));
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function seriesOf(
  { cells }: Buckets<Figures>,
  groups: readonly Group[],
  nameOf: (group: string) => string,
): readonly UsageSeriesRecord[] {
  // A single remaining group gets its own series instead of "others".
  const own = groups.slice(0, groups.length === SERIES_SHOWN + 1 ? undefined : SERIES_SHOWN);
  const names = new Set(own.map(({ group }) => group));
  const byGroup = Map.groupBy(cells, ({ group }) => (names.has(group) ? group : undefined));
  const rest = byGroup.get(undefined);
  return [
    ...own.map(({ group }) => ({ name: nameOf(group), points: points(byGroup.get(group) ?? []) })),
    ...(rest === undefined ? [] : [{ name: null, points: points(rest) }]),
  ];
}

function points(cells: readonly Cell<Figures>[]): UsageSeriesRecord['points'] {
  return [...Map.groupBy(cells, ({ bucket }) => bucket)]
    .sort(([a], [b]) => a - b)
    .map(([bucket, of]) => {
      const sum = sumFigures(of.map(({ figures }) => figures));
      return {
        bucket,
        requests: sum.requests,
        input_tokens: sum.inputTokens,
        output_tokens: sum.outputTokens,
        spent: formatTokens(sum.debited),
      };
    });
}

function figuresRecord(figures: Figures, usdPerMillion: UsdRate): UsageFiguresRecord {
  const { requests, stopped, cancelled, failed } = figures;
  return {
    requests,
    completed: requests - stopped - cancelled - failed,
    stopped,
    cancelled,
    failed,
    input_tokens: figures.inputTokens,
    cached_input_tokens: figures.cachedInputTokens,
    output_tokens: figures.outputTokens,
    reasoning_tokens: figures.reasoningTokens,
    spent: formatTokens(figures.debited),
    spent_usd: formatUsd(figures.debited, usdPerMillion),
    waived: formatTokens(figures.loss),
  };
}

async function keyNames(
  { keys }: OwnDependencies['store'],
  accountId: string,
): Promise<(id: string) => string> {
  const names = new Map(
    (await keys.list(accountId)).map(({ id, name, masked }) => [id, name ?? masked]),
  );
  names.set(PLAYGROUND_KEY_ID, 'Playground');
  return (id) => names.get(id) ?? id;
}
