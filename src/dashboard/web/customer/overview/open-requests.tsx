// The active requests. Each holds part of the balance until it ends.

import type { LiveRecord } from '../../../records/customer-overview.ts';
import { Empty, formatCount, Table, Time, Tokens } from '../../ui/index.ts';

export function OpenRequests({ live }: { readonly live: LiveRecord }) {
  const { open_requests: open, usage } = live;
  if (open.length === 0) {
    return <Empty title="No active requests">Requests appear here while they run.</Empty>;
  }
  return (
    <>
      <Table
        caption="Active requests"
        rows={open}
        rowKey={({ request_id }) => request_id}
        href={({ request_id }) => `/requests/${request_id}`}
        columns={[
          {
            label: 'Model',
            wrap: true,
            show: ({ model, request_id }) => (
              <>
                {model}
                <br />
                <code class="soft small">{request_id}</code>
              </>
            ),
          },
          { label: 'Started', show: ({ started_at }) => <Time relative at={started_at} /> },
          {
            label: 'Reserved',
            end: true,
            show: ({ reserved }) => <Tokens amount={reserved} decimals={0} />,
          },
        ]}
      />
      {usage.in_flight > open.length && (
        <div class="table-foot">
          <span class="soft">Showing the newest of {formatCount(usage.in_flight)}.</span>
        </div>
      )}
    </>
  );
}
