// The server processes: leader, addresses and health.

import type { NodeRecord, NodeState } from '../../../records/operator-server.ts';
import {
  Alert,
  Badge,
  Card,
  Facts,
  formatCompact,
  formatCount,
  formatMilliseconds,
  Loaded,
  Page,
  StateBadge,
  Time,
  type Tone,
  useResource,
} from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';

const TONES: Readonly<Record<NodeState, Tone>> = {
  serving: 'good',
  draining: 'warning',
  silent: 'danger',
  dead: 'neutral',
};

/** A larger clock offset is shown. */
const OFFSET_MS_MAX = 2_000;

export function NodesPage() {
  const nodes = useResource<{ readonly data: readonly NodeRecord[] }>('/nodes');
  useRefresh(nodes.reload);
  return (
    <Page
      title="Nodes"
      lead="Server processes that share this database. The leader runs the tasks that only one process may run."
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
        <Alert tone="warning" title={`The nodes serve ${catalogs} different catalogs`}>
          Deploy the same file to all nodes.
        </Alert>
      )}
      {versions > 1 && (
        <Alert tone="warning" title={`The nodes run ${versions} different versions`}>
          This is expected during a rolling update.
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
            'State',
            <span key="state">
              <StateBadge state={node.state} tone={TONES[node.state]} />{' '}
              {node.leader && <Badge tone="accent">Leader</Badge>}
            </span>,
          ],
          ['Machine', `${node.host}, process ${node.pid}`],
          ['Version', node.version],
          [
            'Started',
            <span key="started">
              <Time at={node.started_at} /> (<Time at={node.started_at} relative />)
            </span>,
          ],
          [
            'Last heartbeat',
            <span key="heard">
              {formatMilliseconds(node.silent_ms)} ago{clockWords(node.clock_offset_ms)}
            </span>,
          ],
          ['Listens on', node.addresses.join(', ')],
          ['Active requests', formatCount(node.in_flight)],
          ['Redis', node.redis],
          ['Limits', node.limits],
          ['Catalog', `version ${node.catalog_version} (${node.catalog_digest.slice(0, 12)})`],
          ...processItems(node.process),
        ]}
      />
    </Card>
  );
}

function processItems(process: NodeRecord['process']): [string, string][] {
  if (process === null) return [];
  return [
    ['Runtime', process.runtime],
    [
      'Memory',
      `${formatCompact(process.resident_bytes)}B resident, ${formatCompact(process.heap_bytes)}B heap`,
    ],
    ['CPU used', `${formatCount(process.cpu_seconds)} s since start`],
    ['Event loop', `max lag ${formatMilliseconds(process.loop_lag_ms)}, last minute`],
  ];
}

function clockWords(offsetMs: number): string {
  if (Math.abs(offsetMs) <= OFFSET_MS_MAX) return '';
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return `; its clock is ${formatMilliseconds(Math.abs(offsetMs))} ${side} the database's`;
}
