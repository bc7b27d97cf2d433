// `tollgate nodes`: lists the nodes of this database, with the leader and the state of each.

import type { Command } from 'commander';
import { createLeases } from '../cluster/leases.ts';
import { LEADER } from '../cluster/member.ts';
import { createNodes } from '../cluster/nodes.ts';
import type { ListedNodeRecord } from '../dashboard/records/operator-node.ts';
import { nodeRecord } from '../server/node-record.ts';
import { addCommand, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';

export function addNodesCommand(program: Command, perform: Perform): void {
  perform(addCommand(program, 'nodes', 'list the running nodes and their leader'), list);
}

async function list(context: Context): Promise<Output> {
  const { database } = await context.openStore();
  const leader = await createLeases(database).holderOf(LEADER);
  const nodes = (await createNodes(database).list()).map((row) => nodeRecord(row, leader));
  return { json: { object: 'list', data: nodes }, text: textOf(nodes) };
}

const HEADER = [
  'NODE',
  'HOST',
  'STATE',
  'LEADER',
  'VERSION',
  'ADDRESS',
  'HEARTBEAT',
  'IN FLIGHT',
  'REDIS',
  'LIMITS',
  'CATALOG',
  'CLOCK',
];

function textOf(nodes: readonly ListedNodeRecord[]): string {
  if (nodes.length === 0) return 'No node serves this database.';
  const rows = nodes.map((node) => [
    node.id,
    `${node.host} (${node.pid})`,
    node.state,
    node.leader ? 'yes' : '-',
    node.version,
    node.addresses[0] ?? '-',
    `${(node.silent_ms / 1_000).toFixed(1)} s ago`,
    String(node.in_flight),
    node.redis,
    node.limits,
    node.catalog_digest.slice(0, 12),
    `${node.clock_offset_ms < 0 ? '-' : '+'}${Math.abs(node.clock_offset_ms)} ms`,
  ]);
  return [table(HEADER, rows), ...warningsOf(nodes)].join('\n');
}

function warningsOf(nodes: readonly ListedNodeRecord[]): string[] {
  const live = nodes.filter(({ state }) => state === 'serving' || state === 'draining');
  const versions = new Set(live.map(({ version }) => version));
  const catalogs = new Set(live.map(({ catalog_digest }) => catalog_digest));
  return [
    ...(catalogs.size > 1
      ? [
          `The nodes serve ${catalogs.size} different catalogs. A node that cannot use the published one keeps its last; its log and /readyz say why.`,
        ]
      : []),
    ...(versions.size > 1 ? [`The nodes run ${versions.size} different versions.`] : []),
  ];
}
