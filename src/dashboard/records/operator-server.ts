// The console's records about the server: overview, upstreams, alerts, the ledger audit, nodes.

import type { PlaceState } from '../../core/health.ts';
import type { alertRecord } from '../../operations/alerts.ts';
import type { dayTotals, minuteRecord } from '../../operations/figure-records.ts';
import type { placeRecord } from '../../operations/upstreams.ts';

/** Alerts of one kind and subject; `open` unless acknowledged. */
export type AlertRecord = ReturnType<typeof alertRecord>;

/** The live part, sent by the overview's feed. */
export type MachineRecord = {
  readonly status: 'ready' | 'not_ready';
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly maintenance: { readonly on: boolean; readonly message: string | null };
  readonly in_flight: number;
  readonly streams_open: number;
  readonly ledger_pending: number;
  readonly loop_lag_ms: number;
  readonly holds: {
    readonly open: number;
    readonly reserved: string;
    readonly reserved_usd: string;
  };
  readonly balances: {
    readonly accounts: number;
    readonly posted: string;
    readonly posted_usd: string;
    readonly held: string;
  };
  readonly today: ReturnType<typeof dayTotals>;
  /** The last hour. */
  readonly minutes: readonly ReturnType<typeof minuteRecord>[];
  readonly upstreams: {
    readonly total: number;
    readonly troubled: number;
    readonly out_of_service: number;
  };
  readonly catalog: {
    readonly version: number;
    readonly origin: 'file' | 'built-in';
    readonly loaded_at: string;
    readonly refused: boolean;
  };
  /** The open ones: how many, and the latest of them. */
  readonly alerts: { readonly open: number; readonly latest: readonly AlertRecord[] };
};

export type OperatorOverviewRecord = {
  readonly version: string;
  readonly started_at: string;
  readonly live: MachineRecord;
};

export type PlaceModelRecord = {
  readonly model: string;
  /** The model's name at the upstream. */
  readonly upstream_model: string;
  readonly weight: number;
  readonly state: PlaceState;
  readonly breaker: 'closed' | 'open' | 'half_open';
  readonly breaker_until: string | null;
  readonly disabled: boolean;
  /** Set if only this model is out of service. */
  readonly disabled_reason: string | null;
};

export type FailedAttemptRecord = {
  readonly at: string;
  readonly request_id: string;
  readonly model: string;
  readonly credential: string;
  readonly failure: string;
  readonly duration_ms: number;
};

export type UpstreamRecord = {
  readonly id: string;
  readonly object: 'upstream';
  readonly dialect: 'chat' | 'messages' | 'responses' | 'demo';
  readonly profile: string | null;
  readonly base_url: string | null;
  readonly state: 'healthy' | 'degraded' | 'down' | 'disabled';
  /** For the whole upstream; null if in service. */
  readonly disabled: { readonly reason: string; readonly since: string } | null;
  readonly in_flight: number;
  readonly max_in_flight: number;
  readonly queued: number;
  readonly credentials: readonly {
    readonly id: string;
    readonly state: 'ok' | 'disabled';
    readonly status: number | null;
    readonly until: string | null;
  }[];
  readonly models: readonly PlaceModelRecord[];
  /** Of the last hour. */
  readonly last_hour: {
    readonly attempts: number;
    readonly failed: number;
    readonly output_tokens: number;
  };
};

export type UpstreamDetailRecord = UpstreamRecord & {
  readonly minutes: readonly {
    readonly at: string;
    readonly attempts: number;
    readonly failed: number;
    readonly output_tokens: number;
  }[];
  readonly failures: readonly FailedAttemptRecord[];
};

export type UpstreamsRecord = {
  readonly upstreams: readonly UpstreamRecord[];
  /** Entries out of service that the catalog no longer contains. */
  readonly forgotten: readonly ReturnType<typeof placeRecord>[];
};

export type AuditStateRecord = {
  readonly running: boolean;
  readonly every_seconds: number;
  readonly last: {
    readonly started_at: string;
    readonly ended_at: string;
    readonly ok: boolean;
    readonly differences: number;
  } | null;
  readonly differences: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly account_id: string | null;
    readonly detail: string;
  }[];
  readonly stopped: readonly string[];
};

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
