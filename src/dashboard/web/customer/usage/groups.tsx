// Usage by model, key or end user, with links to their requests.

import type { UsageGroupRecord, UsageRecord } from '../../../records/customer-usage.ts';
import {
  Card,
  type Column,
  formatCount,
  formatShare,
  type Span,
  Table,
  Tokens,
  Usd,
  withQuery,
} from '../../ui/index.ts';
import { labelOf } from './measures.ts';

const TITLES = { total: 'All', model: 'Models', key: 'Keys', end_user: 'End users' } as const;
const NAMES = { total: 'All', model: 'Model', key: 'Key', end_user: 'End user' } as const;

export function GroupTable({ usage, span }: { readonly usage: UsageRecord; readonly span: Span }) {
  const { group_by: groupBy, groups, groups_left_out: leftOut, total } = usage;
  const columns: readonly Column<UsageGroupRecord>[] = [
    {
      label: NAMES[groupBy],
      show: ({ name }) => labelOf(groupBy, name),
      sortBy: ({ name }) => name.toLowerCase(),
    },
    number('Requests', ({ figures }) => figures.requests),
    number('Failed', ({ figures }) => figures.failed),
    number('Input', ({ figures }) => figures.input_tokens),
    number('Cached', ({ figures }) => figures.cached_input_tokens),
    number('Output', ({ figures }) => figures.output_tokens),
    {
      label: 'Spent',
      end: true,
      show: ({ figures }) => <Tokens amount={figures.spent} decimals={2} />,
      sortBy: ({ figures }) => Number(figures.spent),
    },
    { label: 'USD', end: true, show: ({ figures }) => <Usd short amount={figures.spent_usd} /> },
    {
      label: 'Share',
      end: true,
      show: ({ figures }) => formatShare(Number(figures.spent), Number(total.spent)),
    },
  ];
  return (
    <Card title={TITLES[groupBy]} flush>
      <Table
        caption={TITLES[groupBy]}
        rows={groups}
        rowKey={({ group }) => group}
        href={({ group }) => requestsOf(groupBy, group, span)}
        columns={columns}
      />
      {leftOut > 0 && (
        <div class="table-foot">
          <span class="soft">{formatCount(leftOut)} more with lower spend</span>
        </div>
      )}
    </Card>
  );
}

function number(label: string, read: (row: UsageGroupRecord) => number): Column<UsageGroupRecord> {
  return { label, end: true, show: (row) => formatCount(read(row)), sortBy: read };
}

/** The request list cannot filter for "no end user", so this row links to all requests. */
function requestsOf(groupBy: UsageRecord['group_by'], group: string, span: Span): string {
  return withQuery('/requests', { ...span, [groupBy]: group });
}
