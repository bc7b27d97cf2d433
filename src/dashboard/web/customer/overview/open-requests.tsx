// The active requests. Each holds part of the balance until it ends.

import type { LiveRecord } from '../../../records/customer-overview.ts';
import { t } from '../../text/t.ts';
import { amountColumn } from '../../ui/common-columns.tsx';
import { formatCount } from '../../ui/format.ts';
import { Empty } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/text.tsx';

export function OpenRequests({ live }: { readonly live: LiveRecord }) {
  const { open_requests: open, usage } = live;
  if (open.length === 0) {
    return (
      <Empty title={t('No active requests')}>{t('Requests appear here while they run.')}</Empty>
    );
  }
  return (
    <>
      <Table
        caption={t('Active requests')}
        rows={open}
        rowKey={({ request_id }) => request_id}
        href={({ request_id }) => `/requests/${request_id}`}
        columns={[
          {
            label: t('Model'),
            wrap: true,
            show: ({ model, request_id }) => (
              <>
                {model}
                <br />
                <code class="soft small">{request_id}</code>
              </>
            ),
          },
          { label: t('Started'), show: ({ started_at }) => <Time relative at={started_at} /> },
          amountColumn(t('Reserved'), 'reserved'),
        ]}
      />
      {usage.in_flight > open.length && (
        <div class="table-foot">
          <span class="soft">
            {t('Showing the newest of {inFlight}.', { inFlight: formatCount(usage.in_flight) })}
          </span>
        </div>
      )}
    </>
  );
}
