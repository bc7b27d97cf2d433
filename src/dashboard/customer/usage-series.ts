// The groups of the usage page, their series over time, and their figures.

import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import type { Buckets, Cell } from '../../ledger/series/buckets.ts';
import { type Figures, sumFigures } from '../../ledger/series/figures.ts';
import type {
  UsageFiguresRecord,
  UsageGroupRecord,
  UsageMeasure,
  UsagePointRecord,
  UsageRecord,
  UsageSeriesRecord,
} from '../records/customer-usage.ts';

export const GROUPS_SHOWN = 100;
/** All other groups form one more series. */
const SERIES_SHOWN = 5;

/** The display name of a key; of others, the group itself. */
export type GroupName = (group: string) => string;

type GroupBy = UsageRecord['group_by'];

type Group = { readonly group: string; readonly figures: Figures };

const MEASURES: Readonly<Record<UsageMeasure, (figures: Figures) => number | bigint>> = {
  spent: ({ debited }) => debited,
  requests: ({ requests }) => requests,
  tokens: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  failed: ({ failed }) => failed,
};

/** Complete groups by a measure, highest first. */
export function groupsOf({ cells }: Buckets<Figures>, measure: UsageMeasure): readonly Group[] {
  const read = MEASURES[measure];
  return [...Map.groupBy(cells, ({ group }) => group)]
    .map(([group, of]) => ({ group, figures: sumFigures(of.map(({ figures }) => figures)) }))
    .sort((a, b) => {
      const [mine, other] = [read(a.figures), read(b.figures)];
      return mine === other ? (a.group < b.group ? -1 : 1) : mine > other ? -1 : 1;
    });
}

/** The group of a model has the one that served and the requested one. */
function namesOf(group: string, groupBy: GroupBy, nameOf: GroupName) {
  if (groupBy !== 'model') return { group, name: nameOf(group), requested: null };
  const [served = '', requested = served] = group.split(' ');
  return { group, name: served, requested: requested === served ? null : requested };
}

export function groupRecord(
  { group, figures }: Group,
  groupBy: GroupBy,
  nameOf: GroupName,
  usdPerMillion: UsdRate,
): UsageGroupRecord {
  return {
    ...namesOf(group, groupBy, nameOf),
    figures: figuresRecord(figures, usdPerMillion),
  };
}

export function seriesOf(
  { cells }: Buckets<Figures>,
  groups: readonly Group[],
  groupBy: GroupBy,
  nameOf: GroupName,
  usdPerMillion: UsdRate,
): readonly UsageSeriesRecord[] {
  // A single remaining group gets its own series instead of "others".
  const own = groups.slice(0, groups.length === SERIES_SHOWN + 1 ? undefined : SERIES_SHOWN);
  const names = new Set(own.map(({ group }) => group));
  const byGroup = Map.groupBy(cells, ({ group }) => (names.has(group) ? group : undefined));
  const rest = byGroup.get(undefined);
  return [
    ...own.map(({ group }) => ({
      ...namesOf(group, groupBy, nameOf),
      points: pointsOf(byGroup.get(group) ?? [], usdPerMillion),
    })),
    ...(rest === undefined
      ? []
      : [{ group: null, name: null, requested: null, points: pointsOf(rest, usdPerMillion) }]),
  ];
}

export function pointsOf(
  cells: readonly Cell<Figures>[],
  usdPerMillion: UsdRate,
): readonly UsagePointRecord[] {
  return [...Map.groupBy(cells, ({ bucket }) => bucket)]
    .sort(([a], [b]) => a - b)
    .map(([bucket, of]) => {
      const sum = sumFigures(of.map(({ figures }) => figures));
      return {
        bucket,
        requests: sum.requests,
        failed: sum.failed,
        input_tokens: sum.inputTokens,
        output_tokens: sum.outputTokens,
        spent: formatTokens(sum.debited),
        spent_usd: formatUsd(sum.debited, usdPerMillion),
      };
    });
}

export function figuresRecord(figures: Figures, usdPerMillion: UsdRate): UsageFiguresRecord {
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
