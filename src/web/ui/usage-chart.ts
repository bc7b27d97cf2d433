// The chart of a usage record: spend, requests, tokens or failures as numbers, and the requests
// behind each point. Exact amounts are shown as text elsewhere.

import type {
  UsageMeasure,
  UsagePointRecord,
  UsageRecord,
} from '../../dashboard/records/customer-usage.ts';
import { t } from '../text/t.ts';
import { withQuery } from './api.ts';
import type { ChartProps, Series } from './chart-data.ts';
import { moneyChart } from './chart-money.ts';
import { formatCompact, formatCount } from './format.ts';

export const MEASURES: readonly { readonly id: UsageMeasure; readonly label: string }[] = [
  { id: 'spent', label: t('Spend') },
  { id: 'requests', label: t('Requests') },
  { id: 'tokens', label: t('Tokens') },
  { id: 'failed', label: t('Failed') },
];

export type UsageFilter = Readonly<Record<'model' | 'key' | 'end_user', string>>;

const READ: Readonly<Record<UsageMeasure, (point: UsagePointRecord) => number>> = {
  spent: (point) => moneyChart().value(point.spent_usd),
  requests: (point) => point.requests,
  tokens: (point) => point.input_tokens + point.output_tokens,
  failed: (point) => point.failed,
};

/** The text of the chart's heading, with the unit. */
export function titleOf(measure: UsageMeasure, step: UsageRecord['step']): string {
  switch (measure) {
    case 'spent':
      return t(
        '{step, select, hour {Spend by hour} day {Spend by day} other {Spend by month}} ({unit})',
        { step, unit: moneyChart().unit },
      );
    case 'requests':
      return t(
        '{step, select, hour {Requests by hour} day {Requests by day} other {Requests by month}}',
        { step },
      );
    case 'tokens':
      return t(
        '{step, select, hour {Model tokens by hour} day {Model tokens by day} other {Model tokens by month}}',
        { step },
      );
    case 'failed':
      return t(
        '{step, select, hour {Failed requests by hour} day {Failed requests by day} other {Failed requests by month}}',
        { step },
      );
  }
}

/** `filter` is that of the usage, for the links. */
export function chartOf(
  usage: UsageRecord,
  measure: UsageMeasure,
  filter: UsageFilter & { readonly account?: string },
): ChartProps {
  const { buckets, to, step, before } = usage;
  return {
    title: titleOf(measure, step),
    ...unitOf(measure),
    kind: 'bars',
    step,
    times: buckets,
    series: seriesOf(usage, measure),
    before: before.total.requests === 0 ? undefined : valuesOf(usage, before.points, READ[measure]),
    href: (index, nth) =>
      withQuery('/requests', {
        ...filter,
        ...(nth === undefined ? {} : filterOf(usage, usage.series[nth]?.group ?? null)),
        ...(measure === 'failed' ? { outcome: 'failed' } : {}),
        from: buckets[index] ?? '',
        to: buckets[index + 1] ?? to,
      }),
  };
}

function unitOf(measure: UsageMeasure): Pick<ChartProps, 'unit' | 'format' | 'formatAxis'> {
  if (measure === 'spent') {
    const { value: _, ...money } = moneyChart();
    return money;
  }
  const unit = measure === 'tokens' ? t('model tokens') : t('requests');
  return { unit, format: formatCount, formatAxis: formatCompact };
}

/** The name of the end users that the series has no room for (`ledger/series/end-users.ts`). */
const OTHER_END_USERS = '(others)';

/** The filter of a group for the list of requests. */
export function filterOf(
  { group_by: groupBy }: UsageRecord,
  group: string | null,
): Readonly<Record<string, string>> {
  if (group === null || groupBy === 'total' || group === OTHER_END_USERS) return {};
  if (groupBy !== 'model') return { [groupBy]: group };
  const [served = '', requested = served] = group.split(' ');
  return { served, requested };
}

function seriesOf(usage: UsageRecord, measure: UsageMeasure): readonly Series[] {
  const { series, group_by: groupBy } = usage;
  if (groupBy !== 'total') {
    return series.map((each) => ({
      label: labelOf(groupBy, each),
      ...(each.group === null ? { tone: 'muted' as const } : { name: colourName(each) }),
      values: valuesOf(usage, each.points, READ[measure]),
    }));
  }
  const points = series[0]?.points ?? [];
  if (measure !== 'tokens') {
    const { label = '' } = MEASURES.find(({ id }) => id === measure) ?? {};
    return [{ label, values: valuesOf(usage, points, READ[measure]) }];
  }
  return [
    { label: t('Input'), values: valuesOf(usage, points, (point) => point.input_tokens) },
    { label: t('Output'), values: valuesOf(usage, points, (point) => point.output_tokens) },
  ];
}

/** Models have the same colour on all pages; keys keep theirs under another name. */
function colourName({ group, name, requested }: UsageRecord['series'][number]): string {
  return requested === null && name !== null && group === `${name} ${name}` ? name : (group ?? '');
}

/** The label of a group. */
export function labelOf(
  groupBy: UsageRecord['group_by'],
  { name, requested }: { readonly name: string | null; readonly requested: string | null },
): string {
  if (name === null) return t('All others');
  if (requested !== null) return t('{served} for {requested}', { served: name, requested });
  if (groupBy === 'end_user' && name === OTHER_END_USERS) return t('Further end users');
  if (name !== '') return name;
  return groupBy === 'end_user' ? t('No end user') : t('All');
}

/** One value per bucket. */
export function valuesOf(
  { buckets }: UsageRecord,
  points: readonly UsagePointRecord[],
  read: (point: UsagePointRecord) => number,
): readonly number[] {
  const values = buckets.map(() => 0);
  for (const point of points) if (point.bucket < values.length) values[point.bucket] = read(point);
  return values;
}
