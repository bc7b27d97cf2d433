// The nodes in the console, with more detail for the one that responds.

import type { MachineDependencies } from '../dependencies.ts';
import { type List, wholeList } from '../edge/page.ts';
import { type OperatorRoutes, viewRoute } from '../edge/route.ts';
import type { NodeRecord } from '../records/operator-node.ts';

export function nodeRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { machine } = dependencies;
  return [
    viewRoute({
      path: '/nodes',
      quiet: true,
      async handle(): Promise<List<NodeRecord>> {
        const own = machine.node();
        const process = {
          runtime: own.runtime,
          resident_bytes: own.residentBytes,
          heap_bytes: own.heapBytes,
          cpu_seconds: tenths(own.cpuSeconds),
          loop_lag_ms: tenths(machine.activity.loopLagMs()),
        };
        const nodes = await machine.nodes();
        return wholeList(
          nodes.map((node) => ({ ...node, process: node.id === own.id ? process : null })),
        );
      },
    }),
  ];
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
