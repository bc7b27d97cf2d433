// The accounts with the largest amounts, and the open holds.

import type { MoneyAccountRecord, MoneyRecord } from '../../../records/operator-catalog.ts';
import {
  type ApiError,
  Card,
  Empty,
  ErrorAlert,
  formatCount,
  Skeleton,
  StateBadge,
  Table,
  Time,
  Tokens,
  Usd,
} from '../../ui/index.ts';

export function AccountsCard({
  title,
  what,
  rows,
  error,
  empty,
}: {
  readonly title: string;
  readonly what: string;
  /** Absent while loading. */
  readonly rows: readonly MoneyAccountRecord[] | undefined;
  readonly error?: ApiError | undefined;
  readonly empty: string;
}) {
  return (
    <Card title={title} flush>
      <ErrorAlert error={error} />
      {rows === undefined ? (
        !error && <Waiting />
      ) : rows.length === 0 ? (
        <Empty title="No accounts">{empty}</Empty>
      ) : (
        <Table
          caption={title}
          rows={rows}
          rowKey={({ account_id }) => account_id}
          href={({ account_id }) => `/accounts/${account_id}`}
          columns={[
            { label: 'Account', show: ({ email }) => email },
            { label: what, end: true, show: ({ amount_usd }) => <Usd amount={amount_usd} short /> },
            {
              label: 'Service tokens',
              end: true,
              show: ({ amount }) => <Tokens amount={amount} decimals={0} />,
            },
          ]}
        />
      )}
    </Card>
  );
}

function Waiting() {
  return (
    <div class="table-pad">
      <Skeleton lines={4} />
    </div>
  );
}

export function HoldsCard({ holds }: Pick<MoneyRecord, 'holds'>) {
  const { open, oldest } = holds;
  return (
    <Card
      title={oldest.length < open ? `Oldest of ${formatCount(open)} open holds` : 'Open holds'}
      flush
    >
      {oldest.length === 0 ? (
        <Empty title="No open holds">No active requests.</Empty>
      ) : (
        <Table
          caption="Open holds"
          rows={oldest}
          rowKey={({ request_id }) => request_id}
          href={({ request_id }) => `/requests/${request_id}`}
          columns={[
            { label: 'Request', show: ({ request_id }) => <code>{request_id}</code> },
            { label: 'Created', show: ({ created_at }) => <Time at={created_at} relative /> },
            { label: 'Model', show: ({ model }) => model },
            { label: 'Phase', show: ({ phase }) => <StateBadge state={phase} /> },
            { label: 'Reserved', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
          ]}
        />
      )}
    </Card>
  );
}
