// A node as people and programs are shown it, by `tollgate nodes` and by the console.

import { isoTime } from '../core/calendar.ts';
import { DEAD_MS, type NodeRow } from './nodes.ts';

/**
 * serving    takes requests
 * draining   is about to end
 * silent     has not been heard for long enough to be held for dead, and nobody has done so yet
 * dead       its holds were ended by others
 */
export type NodeState = 'serving' | 'draining' | 'silent' | 'dead';

/** Members are named as in the answers of the console. */
export type ClusterNodeRecord = {
  readonly id: string;
  readonly object: 'node';
  readonly boot: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly addresses: readonly string[];
  readonly workers: number;
  readonly state: NodeState;
  readonly leader: boolean;
  readonly in_flight: number;
  readonly redis: string;
  readonly limits: string;
  readonly catalog_version: number;
  readonly catalog_digest: string;
  /** By how much its clock is ahead of the database's. */
  readonly clock_offset_ms: number;
  readonly started_at: string;
  readonly heartbeat_at: string;
  /** How long ago that was, by the database's clock. */
  readonly silent_ms: number;
  /** Everything that was committed before has taken effect there; null: it has not said so yet. */
  readonly seen_at: string | null;
  readonly dead_at: string | null;
};

export function nodeRecord(row: NodeRow, leader: string | undefined): ClusterNodeRecord {
  return {
    id: row.node,
    object: 'node',
    boot: row.boot,
    host: row.host,
    pid: row.pid,
    version: row.version,
    addresses: row.addresses,
    workers: row.workers,
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
  return silentMs >= DEAD_MS ? 'silent' : state;
}
