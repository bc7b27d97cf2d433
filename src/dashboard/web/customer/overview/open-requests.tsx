// The requests that run now. Each holds money until it ends.

import type { LiveRecord } from '../../../records/customer-overview.ts';
import { Empty, formatCount, Table, Time, Tokens } from '../../ui/index.ts';

export function OpenRequests({ live }: { readonly live: LiveRecord }) {
  const { open_requests: open, usage } = live;
  if (open.length === 0) {
    return <Empty title="Nothing runs now">Requests appear here while they are answered.</Empty>;
  }
  return (
    <>
      <Table
        caption="Requests in flight"
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
          { label: 'Since', show: ({ started_at }) => <Time relative at={started_at} /> },
          {
            label: 'Reserved',
            end: true,
            show: ({ reserved }) => <Tokens amount={reserved} decimals={0} />,
          },
        ]}
      />
      {usage.in_flight > open.length && (
        <div class="table-foot">
          <span class="soft">The newest of {formatCount(usage.in_flight)}.</span>
        </div>
      )}
    </>
  );
}
