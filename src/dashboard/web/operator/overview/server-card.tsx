// The state of the server process.

import { Link } from 'wouter-preact';
import type { MachineRecord } from '../../../records/operator-server.ts';
import { t } from '../../text/t.ts';
import { formatCount, formatMilliseconds } from '../../ui/format.ts';
import { Card, Facts } from '../../ui/parts.tsx';
import { StateBadge, Time } from '../../ui/text.tsx';

export function ServerCard({ machine }: { readonly machine: MachineRecord }) {
  const { status, catalog, upstreams } = machine;
  return (
    <Card title={t('Server')}>
      <Facts
        items={[
          [
            t('State'),
            <StateBadge key="state" state={status} tone={status === 'ready' ? 'good' : 'danger'} />,
          ],
          [t('Upstreams'), <Upstreams key="upstreams" upstreams={upstreams} />],
          [
            t('Catalog'),
            <span key="catalog">
              <Link href="/catalog">{t('version {version}', { version: catalog.version })}</Link>,{' '}
              <Time at={catalog.loaded_at} relative />
            </span>,
          ],
          [
            t('Ledger queue'),
            t('{ledgerPending} pending writes', {
              ledgerPending: formatCount(machine.ledger_pending),
            }),
          ],
          [
            t('Event loop'),
            t('max lag {loopLagMs}, last minute', {
              loopLagMs: formatMilliseconds(machine.loop_lag_ms),
            }),
          ],
        ]}
      />
    </Card>
  );
}

function Upstreams({ upstreams }: Pick<MachineRecord, 'upstreams'>) {
  const { total, troubled, out_of_service: out } = upstreams;
  const parts = [
    t('{total} total', { total: formatCount(total) }),
    ...(troubled === 0 ? [] : [t('{count} failing', { count: formatCount(troubled) })]),
    ...(out === 0 ? [] : [t('{out} out of service', { out: formatCount(out) })]),
  ];
  return <Link href="/upstreams">{parts.join(', ')}</Link>;
}
