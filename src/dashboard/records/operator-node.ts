// The console's records about the nodes of a cluster.

/**
 * serving    takes requests
 * draining   is shutting down
 * silent     missed its heartbeats; its holds are still open
 * dead       missed its heartbeats; other nodes ended its holds
 */
export type NodeState = 'serving' | 'draining' | 'silent' | 'dead';

/** One incarnation of a process on this database; times are of the database's clock. */
export type ListedNodeRecord = {
  readonly id: string;
  readonly object: 'node';
  /** Identifies the incarnation. */
  readonly boot: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly addresses: readonly string[];
  readonly state: NodeState;
  /** Whether it is the leader. */
  readonly leader: boolean;
  readonly in_flight: number;
  /** Its reported state of Redis and of shared limits. */
  readonly redis: string;
  readonly limits: string;
  readonly catalog_version: number;
  readonly catalog_digest: string;
  /** The offset of its clock from the database's. */
  readonly clock_offset_ms: number;
  readonly started_at: string;
  readonly heartbeat_at: string;
  /** Time since then. */
  readonly silent_ms: number;
  /** Commits before this time are applied there; null if not reported yet. */
  readonly seen_at: string | null;
  readonly dead_at: string | null;
};

export type NodeRecord = ListedNodeRecord & {
  /** Only for the responding process; null for others. */
  readonly process: {
    readonly runtime: string;
    readonly resident_bytes: number;
    readonly heap_bytes: number;
    readonly cpu_seconds: number;
    readonly loop_lag_ms: number;
  } | null;
};
