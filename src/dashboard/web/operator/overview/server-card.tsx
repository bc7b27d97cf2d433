// The state of the server process.

import { Link } from 'wouter-preact';
import type { MachineRecord } from '../../../records/operator-server.ts';
import { Card, Facts, formatCount, formatMilliseconds, StateBadge, Time } from '../../ui/index.ts';

export function ServerCard({ machine }: { readonly machine: MachineRecord }) {
  const { status, catalog, upstreams } = machine;
  return (
    <Card title="Server">
      <Facts
        items={[
          [
            'State',
            <StateBadge key="state" state={status} tone={status === 'ready' ? 'good' : 'danger'} />,
          ],
          ['Upstreams', <Upstreams key="upstreams" upstreams={upstreams} />],
          [
            'Catalog',
            <span key="catalog">
              <Link href="/catalog">version {catalog.version}</Link>,{' '}
              <Time at={catalog.loaded_at} relative />
            </span>,
          ],
          ['Ledger queue', `${formatCount(machine.ledger_pending)} pending writes`],
          ['Event loop', `max lag ${formatMilliseconds(machine.loop_lag_ms)}, last minute`],
        ]}
      />
    </Card>
  );
}

function Upstreams({ upstreams }: Pick<MachineRecord, 'upstreams'>) {
  const { total, troubled, out_of_service: out } = upstreams;
  const parts = [
    `${formatCount(total)} total`,
    ...(troubled === 0 ? [] : [`${formatCount(troubled)} failing`]),
    ...(out === 0 ? [] : [`${formatCount(out)} out of service`]),
  ];
  return <Link href="/upstreams">{parts.join(', ')}</Link>;
}
