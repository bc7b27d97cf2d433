// The latest failed attempts at an upstream, each linked to its request, and what it said of them.

import type {
  FailedAttemptRecord,
  UpstreamWordsRecord,
} from '../../../dashboard/records/operator-server.ts';
import { t } from '../../text/t.ts';
import { formatCount, formatMilliseconds } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { Card, Empty } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/text.tsx';

/** Of each list; a click shows the others. */
const ROWS = 10;

export function FailuresCard({ failures }: { readonly failures: readonly FailedAttemptRecord[] }) {
  return (
    <Card title={t('Latest failed attempts')} flush>
      <Table
        caption={t('Latest failed attempts')}
        rows={failures}
        first={ROWS}
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

/** Over all nodes, for seven days. */
export function WordsCard({ words }: { readonly words: readonly UpstreamWordsRecord[] }) {
  return (
    <Card title={t('Error messages')} flush>
      <Table
        caption={t('Error messages')}
        rows={words}
        first={ROWS}
        empty={<Empty title={t('Nothing')}>{t('None within seven days.')}</Empty>}
        rowKey={({ id }) => id}
        href={({ request_id }) => `/requests/${request_id}`}
        columns={[
          { label: t('Text'), wrap: true, show: ({ words: said }) => <span lang="">{said}</span> },
          { label: t('Model'), show: ({ model }) => model },
          { label: t('Failure'), show: ({ failure }) => labelOf(failure) },
          { label: t('Attempts'), end: true, show: ({ count }) => formatCount(count) },
          { label: t('Last'), show: ({ last_at }) => <Time at={last_at} relative /> },
        ]}
      />
    </Card>
  );
}
