// The accounts with the largest amounts, and the open holds.

import type { MoneyAccountRecord, MoneyRecord } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { amountColumn, stateColumn } from '../../ui/common-columns.tsx';
import { formatCount } from '../../ui/format.ts';
import { Card, Empty } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/text.tsx';

export function AccountsCard({
  title,
  what,
  rows,
  empty,
}: {
  readonly title: string;
  readonly what: string;
  readonly rows: readonly MoneyAccountRecord[];
  readonly empty: string;
}) {
  return (
    <Card title={title} flush>
      <Table
        caption={title}
        rows={rows}
        empty={<Empty title={t('No accounts')}>{empty}</Empty>}
        rowKey={({ account_id }) => account_id}
        href={({ account_id }) => `/accounts/${account_id}`}
        columns={[
          { label: t('Account'), show: ({ email }) => email },
          amountColumn(what, 'amount', { usd: 'amount_usd' }),
        ]}
      />
    </Card>
  );
}

export function HoldsCard({ holds }: Pick<MoneyRecord, 'holds'>) {
  const { open, oldest } = holds;
  return (
    <Card
      title={
        oldest.length < open
          ? t('Oldest of {open} open holds', { open: formatCount(open) })
          : t('Open holds')
      }
      flush
    >
      <Table
        caption={t('Open holds')}
        rows={oldest}
        empty={<Empty title={t('No open holds')}>{t('No active requests.')}</Empty>}
        rowKey={({ request_id }) => request_id}
        href={({ request_id }) => `/requests/${request_id}`}
        columns={[
          { label: t('Request'), show: ({ request_id }) => <code>{request_id}</code> },
          { label: t('Created'), show: ({ created_at }) => <Time at={created_at} relative /> },
          { label: t('Model'), show: ({ model }) => model },
          stateColumn(t('Phase'), 'phase'),
          amountColumn(t('Reserved'), 'amount'),
        ]}
      />
    </Card>
  );
}
