// The server processes: leader, addresses and health.

import type { NodeRecord } from '../../../dashboard/records/operator-node.ts';
import { t } from '../../text/t.ts';
import { formatCompact, formatCount, formatMilliseconds } from '../../ui/format.ts';
import { Alert, Card, Facts, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Badge, StateBadge, Time } from '../../ui/text.tsx';
import { useRefresh } from '../refresh.ts';

const REDIS: Readonly<Record<string, string>> = {
  off: t('Off'),
  up: t('Connected'),
  down: t('Unreachable'),
};

const LIMITS: Readonly<Record<string, string>> = {
  own: t('Of this node alone'),
  share: t('This node’s share'),
  cluster: t('Shared by all nodes'),
};

/** A larger clock offset is shown. */
const OFFSET_MS_MAX = 2_000;

export function View() {
  const nodes = useResource<{ readonly data: readonly NodeRecord[] }>('/nodes');
  useRefresh(nodes);
  return (
    <Page
      title={t('Nodes')}
      lead={t(
        'Server processes that share this database. The leader runs the tasks that only one process may run.',
      )}
    >
      <Loaded resource={nodes}>
        {({ data }) => (
          <>
            <Differences nodes={data.filter(({ state }) => state !== 'dead')} />
            <div class="grid">
              {data.map((node) => (
                <NodeCard key={node.boot} node={node} />
              ))}
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Differences({ nodes }: { readonly nodes: readonly NodeRecord[] }) {
  const catalogs = new Set(nodes.map((node) => node.catalog_digest)).size;
  const versions = new Set(nodes.map((node) => node.version)).size;
  return (
    <>
      {catalogs > 1 && (
        <Alert
          tone="warning"
          title={t('The nodes serve {catalogs} different catalogs', { catalogs })}
        >
          {t('Deploy the same file to all nodes.')}
        </Alert>
      )}
      {versions > 1 && (
        <Alert
          tone="warning"
          title={t('The nodes run {versions} different versions', { versions })}
        >
          {t('This is expected during a rolling update.')}
        </Alert>
      )}
    </>
  );
}

function NodeCard({ node }: { readonly node: NodeRecord }) {
  return (
    <Card title={node.id}>
      <Facts
        items={[
          [
            t('State'),
            <span key="state">
              <StateBadge state={node.state} />{' '}
              {node.leader && <Badge tone="accent">{t('Leader')}</Badge>}
            </span>,
          ],
          [t('Machine'), t('{host}, process {pid}', { host: node.host, pid: node.pid })],
          [t('Version'), node.version],
          [
            t('Started'),
            <span key="started">
              <Time at={node.started_at} /> (<Time at={node.started_at} relative />)
            </span>,
          ],
          [
            t('Last heartbeat'),
            <span key="heard">
              {t('{silentMs} ago{clockOffsetMs}', {
                silentMs: formatMilliseconds(node.silent_ms),
                clockOffsetMs: clockWords(node.clock_offset_ms),
              })}
            </span>,
          ],
          [t('Listens on'), node.addresses.join(', ')],
          [t('Active requests'), formatCount(node.in_flight)],
          [t('Redis'), REDIS[node.redis] ?? node.redis],
          [t('Limits'), LIMITS[node.limits] ?? node.limits],
          [
            t('Catalog'),
            t('version {catalogVersion} ({catalogDigest})', {
              catalogVersion: node.catalog_version,
              catalogDigest: node.catalog_digest.slice(0, 12),
            }),
          ],
          ...processItems(node.process),
        ]}
      />
    </Card>
  );
}

function processItems(process: NodeRecord['process']): [string, string][] {
  if (process === null) return [];
  return [
    [t('Runtime'), process.runtime],
    [
      t('Memory'),
      t('{residentBytes}B resident, {heapBytes}B heap', {
        residentBytes: formatCompact(process.resident_bytes),
        heapBytes: formatCompact(process.heap_bytes),
      }),
    ],
    [
      t('CPU used'),
      t('{cpuSeconds} s since start', { cpuSeconds: formatCount(process.cpu_seconds) }),
    ],
    [
      t('Event loop'),
      t('max lag {loopLagMs}, last minute', { loopLagMs: formatMilliseconds(process.loop_lag_ms) }),
    ],
  ];
}

function clockWords(offsetMs: number): string {
  if (Math.abs(offsetMs) <= OFFSET_MS_MAX) return '';
  const offset = formatMilliseconds(Math.abs(offsetMs));
  return offsetMs > 0
    ? t("; its clock is {offset} ahead of the database's", { offset })
    : t("; its clock is {offset} behind the database's", { offset });
}
