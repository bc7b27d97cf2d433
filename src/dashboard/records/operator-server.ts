// What the console shows of the server itself: overview, upstreams, alerts, the audit of the books,
// nodes.

import type { placeRecord } from '../../operations/upstreams.ts';

/** A minute of generations; the last one of a list is not over yet. */
export type MinuteRecord = {
  readonly at: string;
  readonly requests: number;
  readonly succeeded: number;
  readonly refused: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly output_tokens: number;
};

export type AlertRecord = {
  readonly at: string;
  readonly kind: string;
  readonly message: string;
  /** Whose history has the rest. */
  readonly request_id: string | null;
};

type DayTotalsRecord = {
  readonly requests: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly spent: string;
  readonly spent_usd: string;
};

/** What changes while somebody looks; the overview's feed sends it. */
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
  readonly today: DayTotalsRecord;
  /** The last hour. */
  readonly minutes: readonly MinuteRecord[];
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
  /** The last ones, newest first. */
  readonly alerts: readonly AlertRecord[];
};

export type OperatorOverviewRecord = {
  readonly version: string;
  readonly started_at: string;
  readonly live: MachineRecord;
};

export type PlaceModelRecord = {
  readonly model: string;
  /** What the upstream calls it. */
  readonly upstream_model: string;
  readonly weight: number;
  readonly breaker: 'closed' | 'open' | 'half_open';
  readonly breaker_until: string | null;
  readonly disabled: boolean;
  /** Where this model alone is out of service. */
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
  readonly dialect: 'chat' | 'messages' | 'demo';
  readonly profile: string | null;
  readonly base_url: string | null;
  readonly state: 'healthy' | 'degraded' | 'down' | 'disabled';
  /** Of the whole upstream; null where it is in service. */
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
  /** What is out of service although the catalog has no such place any more. */
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
 * draining   is about to end
 * silent     has not been heard for too long, and nobody has ended its holds yet
 * dead       was not heard for too long, and its holds were ended by others
 */
export type NodeState = 'serving' | 'draining' | 'silent' | 'dead';

/** One start of a process that serves this database; instants by the database's clock. */
export type ListedNodeRecord = {
  readonly id: string;
  readonly object: 'node';
  /** Names this start of it. */
  readonly boot: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly addresses: readonly string[];
  readonly state: NodeState;
  /** Whether it does what one node does for all of them. */
  readonly leader: boolean;
  readonly in_flight: number;
  /** What it says of Redis and of how it shares limits. */
  readonly redis: string;
  readonly limits: string;
  readonly catalog_version: number;
  readonly catalog_digest: string;
  /** By how much its clock is ahead of the database's. */
  readonly clock_offset_ms: number;
  readonly started_at: string;
  readonly heartbeat_at: string;
  /** How long ago that was. */
  readonly silent_ms: number;
  /** Everything that was committed before has taken effect there; null: it has not said so yet. */
  readonly seen_at: string | null;
  readonly dead_at: string | null;
};

export type NodeRecord = ListedNodeRecord & {
  /** Of the process that answers; null for all others. */
  readonly process: {
    readonly runtime: string;
    readonly resident_bytes: number;
    readonly heap_bytes: number;
    readonly cpu_seconds: number;
    readonly loop_lag_ms: number;
  } | null;
};
