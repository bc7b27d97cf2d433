// The processes that serve, in the console: one, in the shape in which a cluster will have several.

import { isoTime } from '../../core/calendar.ts';
import type { SignedInOperator } from '../../identity/session.ts';
import type { MachineDependencies } from '../dependencies.ts';
import type { NodeRecord } from '../records/operator-machine.ts';
import type { List } from '../rim/page.ts';
import { type Route, sessionRoute } from '../rim/route.ts';

export function nodeRoutes(dependencies: MachineDependencies): readonly Route<SignedInOperator>[] {
  const { machine, draining, inFlight } = dependencies;
  return [
    sessionRoute({
      method: 'GET',
      path: '/nodes',
      quiet: true,
      handle(): List<NodeRecord> {
        const node = machine.node();
        const record: NodeRecord = {
          id: node.id,
          object: 'node',
          version: node.version,
          runtime: node.runtime,
          pid: node.pid,
          state: draining() ? 'draining' : 'serving',
          started_at: isoTime(node.startedAt),
          addresses: node.addresses,
          resident_bytes: node.residentBytes,
          heap_bytes: node.heapBytes,
          cpu_seconds: Math.round(node.cpuSeconds * 10) / 10,
          threads: node.threads,
          loop_lag_ms: Math.round(machine.activity.loopLagMs() * 10) / 10,
          in_flight: inFlight(),
        };
        return { object: 'list', data: [record], next: null };
      },
    }),
  ];
}
