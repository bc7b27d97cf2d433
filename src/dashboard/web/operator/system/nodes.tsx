// The processes that serve: where they listen and how they do.

import type { NodeRecord } from '../../../records/operator-machine.ts';
import {
  Card,
  Facts,
  formatCompact,
  formatCount,
  formatMilliseconds,
  Loaded,
  Page,
  StateBadge,
  Time,
  useResource,
} from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';

export function NodesPage() {
  const nodes = useResource<{ readonly data: readonly NodeRecord[] }>('/nodes');
  useRefresh(nodes.reload);
  return (
    <Page title="Nodes" lead="The processes that answer requests. This version runs one.">
      <Loaded resource={nodes}>
        {({ data }) => (
          <div class="grid">
            {data.map((node) => (
              <NodeCard key={node.id} node={node} />
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function NodeCard({ node }: { readonly node: NodeRecord }) {
  return (
    <Card title={node.id}>
      <Facts
        items={[
          [
            'State',
            <StateBadge
              key="state"
              state={node.state}
              tone={node.state === 'serving' ? 'good' : 'warning'}
            />,
          ],
          ['Version', node.version],
          ['Runtime', node.runtime],
          ['Process', String(node.pid)],
          [
            'Started',
            <span key="started">
              <Time at={node.started_at} /> (<Time at={node.started_at} relative />)
            </span>,
          ],
          ['Listens on', node.addresses.join(', ')],
          ['In flight', formatCount(node.in_flight)],
          ['Threads', `${formatCount(node.threads)}, one of them the ledger's`],
          [
            'Memory',
            `${formatCompact(node.resident_bytes)}B resident, ${formatCompact(node.heap_bytes)}B heap`,
          ],
          ['CPU used', `${formatCount(node.cpu_seconds)} s since the start`],
          ['Event loop', `${formatMilliseconds(node.loop_lag_ms)} late at most in the last minute`],
        ]}
      />
    </Card>
  );
}
