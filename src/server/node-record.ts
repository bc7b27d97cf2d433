// The record of a node that `tollgate nodes` and the console show.

import { EVICT_MS, type NodeRow } from '../cluster/nodes.ts';
import { isoTime } from '../core/calendar.ts';
import type { ListedNodeRecord, NodeState } from '../dashboard/records/operator-node.ts';

export function nodeRecord(row: NodeRow, leader: string | undefined): ListedNodeRecord {
  return {
    id: row.node,
    object: 'node',
    boot: row.boot,
    host: row.host,
    pid: row.pid,
    version: row.version,
    addresses: row.addresses,
    state: stateOf(row),
    leader: row.boot === leader,
    in_flight: row.inFlight,
    redis: row.redis,
    limits: row.limits,
    catalog_version: row.catalogVersion,
    catalog_digest: row.catalogDigest,
    clock_offset_ms: row.clockOffsetMs,
    started_at: isoTime(row.startedAt),
    heartbeat_at: isoTime(row.heartbeatAt),
    silent_ms: Math.max(0, row.silentMs),
    seen_at: row.seenAt === 0 ? null : isoTime(row.seenAt),
    dead_at: row.deadAt === null ? null : isoTime(row.deadAt),
  };
}

function stateOf({ deadAt, silentMs, state }: NodeRow): NodeState {
  if (deadAt !== null) return 'dead';
  return silentMs >= EVICT_MS ? 'silent' : state;
}
