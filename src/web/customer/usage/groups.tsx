// Usage by model, key or end user, with links to their requests.

import type { UsageGroupRecord, UsageRecord } from '../../../dashboard/records/customer-usage.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { withQuery } from '../../ui/api.ts';
import { numberColumn } from '../../ui/common-columns.tsx';
import { formatCount, formatShare } from '../../ui/format.ts';
import { Card } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { filterOf, labelOf, type UsageFilter } from '../../ui/usage-chart.ts';

const NAMES = {
  total: [t('All'), t('All')],
  model: [t('Models'), t('Model')],
  key: [t('Keys'), t('Key')],
  end_user: [t('End users'), t('End user')],
} as const;

export function GroupTable({
  usage,
  filter,
}: {
  readonly usage: UsageRecord;
  readonly filter: UsageFilter;
}) {
  const { group_by: groupBy, groups, groups_left_out: leftOut, total } = usage;
  const [title, label] = NAMES[groupBy];
  const columns: readonly Column<UsageGroupRecord>[] = [
    {
      label,
      show: (row) => labelOf(groupBy, row),
      sortBy: ({ name }) => name.toLowerCase(),
    },
    numberColumn(t('Requests'), ({ figures }) => figures.requests),
    numberColumn(t('Failed'), ({ figures }) => figures.failed),
    numberColumn(t('Input'), ({ figures }) => figures.input_tokens),
    numberColumn(t('Cached'), ({ figures }) => figures.cached_input_tokens),
    numberColumn(t('Output'), ({ figures }) => figures.output_tokens),
    {
      label: t('Share'),
      end: true,
      show: ({ figures }) => formatShare(Number(figures.spent), Number(total.spent)),
    },
    {
      label: t('Spend'),
      end: true,
      show: ({ figures }) => <Amount tokens={figures.spent} usd={figures.spent_usd} />,
      sortBy: ({ figures }) => Number(figures.spent),
    },
  ];
  return (
    <Card title={title} flush>
      <Table
        caption={title}
        rows={groups}
        rowKey={({ group }) => group}
        href={({ group }) =>
          withQuery('/requests', {
            ...filter,
            ...filterOf(usage, group),
            from: usage.from,
            to: usage.to,
          })
        }
        columns={columns}
      />
      {leftOut > 0 && (
        <div class="table-foot">
          <span class="soft">
            {t('{leftOut} more with lower values', { leftOut: formatCount(leftOut) })}
          </span>
        </div>
      )}
    </Card>
  );
}
