// The latest failed attempts at an upstream, each linked to its request.

import type { FailedAttemptRecord } from '../../../records/operator-server.ts';
import { t } from '../../text/t.ts';
import { formatMilliseconds } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { Card, Empty } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/text.tsx';

export function FailuresCard({ failures }: { readonly failures: readonly FailedAttemptRecord[] }) {
  return (
    <Card title={t('Latest failed attempts')} flush>
      <Table
        caption={t('Latest failed attempts')}
        rows={failures}
        empty={<Empty title={t('No failures')}>{t('None since the server started.')}</Empty>}
        rowKey={({ request_id, at, credential }) => `${request_id} ${at} ${credential}`}
        href={({ request_id }) => `/requests/${request_id}`}
        columns={[
          { label: t('Request'), show: ({ request_id }) => <code>{request_id}</code> },
          { label: t('When'), show: ({ at }) => <Time at={at} relative /> },
          { label: t('Model'), show: ({ model }) => model },
          { label: t('Failure'), show: ({ failure }) => labelOf(failure) },
          { label: t('Key'), end: true, show: ({ credential }) => credential },
          {
            label: t('Duration'),
            end: true,
            show: ({ duration_ms }) => formatMilliseconds(duration_ms),
          },
        ]}
      />
    </Card>
  );
}
