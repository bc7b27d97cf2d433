// The latest failed attempts at an upstream, each linked to its request.

import type { FailedAttemptRecord } from '../../../records/operator-server.ts';
import { Card, Empty, formatMilliseconds, humanize, Table, Time } from '../../ui/index.ts';

export function FailuresCard({ failures }: { readonly failures: readonly FailedAttemptRecord[] }) {
  return (
    <Card title="Latest failed attempts" flush>
      {failures.length === 0 ? (
        <Empty title="No failures">None since the server started.</Empty>
      ) : (
        <Table
          caption="Latest failed attempts"
          rows={failures}
          rowKey={({ request_id, at, credential }) => `${request_id} ${at} ${credential}`}
          href={({ request_id }) => `/requests/${request_id}`}
          columns={[
            { label: 'Request', show: ({ request_id }) => <code>{request_id}</code> },
            { label: 'When', show: ({ at }) => <Time at={at} relative /> },
            { label: 'Model', show: ({ model }) => model },
            { label: 'Failure', show: ({ failure }) => humanize(failure) },
            { label: 'Key', end: true, show: ({ credential }) => credential },
            {
              label: 'Duration',
              end: true,
              show: ({ duration_ms }) => formatMilliseconds(duration_ms),
            },
          ]}
        />
      )}
    </Card>
  );
}
