// The chart values of a usage record: spend, requests or tokens as numbers. Exact amounts are shown
// as text elsewhere.

import type { UsagePointRecord, UsageRecord } from '../../../records/customer-usage.ts';
import { formatCount, formatTokens, type Series } from '../../ui/index.ts';

export const MEASURES = [
  {
    id: 'spent',
    label: 'Spent',
    title: 'Service tokens spent',
    format: (value: number) => formatTokens(value.toFixed(6), 2),
  },
  { id: 'requests', label: 'Requests', title: 'Requests', format: formatCount },
  { id: 'tokens', label: 'Tokens', title: 'Model tokens', format: formatCount },
] as const;

export type Measure = (typeof MEASURES)[number]['id'];

type Read = (point: UsagePointRecord) => number;

const READ: Readonly<Record<Measure, Read>> = {
  spent: (point) => Number(point.spent),
  requests: (point) => point.requests,
  tokens: (point) => point.input_tokens + point.output_tokens,
};

export function seriesOf(usage: UsageRecord, measure: Measure): readonly Series[] {
  const { series, group_by: groupBy } = usage;
  const [all] = series;
  if (groupBy === 'total' && measure === 'tokens' && all !== undefined) {
    return [
      { label: 'Input', values: valuesOf(usage, all.points, (point) => point.input_tokens) },
      { label: 'Output', values: valuesOf(usage, all.points, (point) => point.output_tokens) },
    ];
  }
  return series.map(({ name, points }) => ({
    label: labelOf(groupBy, name),
    values: valuesOf(usage, points, READ[measure]),
  }));
}

/** The label of a group. */
export function labelOf(groupBy: UsageRecord['group_by'], name: string | null): string {
  if (name === null) return 'All others';
  if (name !== '') return name;
  return groupBy === 'end_user' ? 'No end user' : 'All';
}

function valuesOf(
  { buckets }: UsageRecord,
  points: readonly UsagePointRecord[],
  read: Read,
): readonly number[] {
  const values = buckets.map(() => 0);
  for (const point of points) values[point.bucket] = read(point);
  return values;
}
