// Metrics that are read when they are printed: requests in flight, the state of upstreams, the
// process. Nothing here is on the request path.

import { readdirSync } from 'node:fs';
import { countUpstreams, type UpstreamState } from '../core/health.ts';
import type { Micro } from '../core/money.ts';
import { counter, type Family, gauge } from './exposition.ts';
import { cpuSeconds, residentBytes } from './process.ts';
import { type BackupState, type RetentionState, readBackups, readRetention } from './upkeep.ts';

export type GaugeSources = {
  readonly requestsInFlight: () => number;
  readonly streamsOpen: () => number;
  readonly upstreams: () => readonly UpstreamState[];
  /** How many warnings `/readyz` lists for the operator. */
  readonly warnings: () => number;
  readonly ledgerPending: () => number;
  /** The open holds, and what they reserve in 10⁻⁶ service token. */
  readonly openHolds: () => Promise<{ readonly count: number; readonly amount: Micro }>;
  readonly auditDifferences: () => number;
  readonly catalog: () => CatalogState;
  readonly limits: () => LimitsState;
  /** Absent where the server makes no backups. */
  readonly backups: (() => BackupState) | undefined;
  /** Absent where all requests stay in the database. */
  readonly retention: (() => RetentionState) | undefined;
  /** How often a changed catalog was refused. */
  readonly catalogsRefused: () => number;
};

type CatalogState = {
  /** 1 at the start, and one more with each catalog that is applied. */
  readonly version: number;
  /** Unix milliseconds. */
  readonly loadedAt: number;
  /** Present while a changed catalog is refused. */
  readonly refused?: object;
};

/** Where limits are decided, and the cost of it. */
type LimitsState = {
  readonly mode: string;
  readonly redis: string;
  readonly leased: number;
  readonly exchanged: number;
  readonly shared: number;
  readonly commands: number;
  readonly failures: number;
};

const MICRO = 1_000_000;
const SECOND_MS = 1_000;

const BREAKER_VALUES = { closed: 0, half_open: 1, open: 2 } as const;

export function createGauges(sources: GaugeSources): () => Promise<Family[]> {
  const startedAt = Date.now() / SECOND_MS - process.uptime();
  return async () => [
    gauge('tollgate_requests_in_flight', 'Generations in progress.', sources.requestsInFlight()),
    gauge('tollgate_streams_open', 'Streams in progress.', sources.streamsOpen()),
    gauge(
      'tollgate_ledger_pending',
      'Commands of the ledger that are not on disk yet.',
      sources.ledgerPending(),
    ),
    gauge(
      'tollgate_audit_differences',
      'Differences that the last audits of the books have found.',
      sources.auditDifferences(),
    ),
    gauge('tollgate_warnings', 'Warnings that /readyz lists for the operator.', sources.warnings()),
    ...readCatalog(sources.catalog(), sources.catalogsRefused()),
    ...readHolds(await sources.openHolds()),
    ...readUpstreams(sources.upstreams()),
    ...readLimits(sources.limits()),
    ...(sources.backups === undefined ? [] : readBackups(sources.backups(), Date.now())),
    ...(sources.retention === undefined ? [] : readRetention(sources.retention())),
    ...readProcess(startedAt),
  ];
}

function readCatalog({ loadedAt, refused, version }: CatalogState, refusals: number): Family[] {
  return [
    gauge(
      'tollgate_catalog_loaded_timestamp_seconds',
      'When the catalog that serves was loaded, in Unix seconds.',
      loadedAt / SECOND_MS,
    ),
    gauge(
      'tollgate_catalog_refused',
      '1 while a changed catalog is refused and the one before it serves, else 0.',
      refused === undefined ? 0 : 1,
    ),
    counter('tollgate_catalog_reloads_total', 'Reloads of the catalog: accepted, or refused.', [
      [{ result: 'accepted' }, version - 1],
      [{ result: 'refused' }, refusals],
    ]),
  ];
}

const LIMITS_MODES = ['own', 'cluster', 'share'];

function readLimits(limits: LimitsState): Family[] {
  return [
    gauge(
      'tollgate_limits_mode',
      '1 for the mode of the limits: own (one node), cluster (through Redis), share (each node by itself).',
      LIMITS_MODES.map((mode) => [{ mode }, mode === limits.mode ? 1 : 0]),
    ),
    counter(
      'tollgate_limits_decisions_total',
      'Claims decided by what was leased, after an exchange with Redis, or by the share of the node.',
      [
        [{ by: 'lease' }, limits.leased],
        [{ by: 'exchange' }, limits.exchanged],
        [{ by: 'share' }, limits.shared],
      ],
    ),
    gauge(
      'tollgate_redis_up',
      '1 while Redis is up, else 0; also 0 where none is set.',
      limits.redis === 'up' ? 1 : 0,
    ),
    counter(
      'tollgate_redis_commands_total',
      'Commands to Redis, one round trip each: answered, or failed.',
      [
        [{ result: 'answered' }, limits.commands - limits.failures],
        [{ result: 'failed' }, limits.failures],
      ],
    ),
  ];
}

function readHolds({ count, amount }: Awaited<ReturnType<GaugeSources['openHolds']>>): Family[] {
  return [
    gauge('tollgate_holds_open', 'Holds on money that have not ended.', count),
    gauge(
      'tollgate_holds_open_service_tokens',
      'Service tokens that the open holds reserve.',
      Number(amount) / MICRO,
    ),
  ];
}

/** Series of upstreams that left the catalog disappear. */
function readUpstreams(states: readonly UpstreamState[]): Family[] {
  const models = states.flatMap(({ upstream, models }) =>
    models.map((each) => ({ ...each, labels: { upstream, model: each.model } })),
  );
  return [
    gauge(
      'tollgate_upstreams',
      'Upstreams by their state: healthy, idle (no recent answer), degraded, down or disabled.',
      Object.entries(countUpstreams(states)).map(([state, count]) => [{ state }, count]),
    ),
    gauge(
      'tollgate_upstream_in_flight',
      'Attempts in progress at the upstream.',
      states.map(({ upstream, inFlight }) => [{ upstream }, inFlight]),
    ),
    gauge(
      'tollgate_upstream_queued',
      'Attempts that wait because the upstream is at its limit of attempts in flight.',
      states.map(({ upstream, queued }) => [{ upstream }, queued]),
    ),
    gauge(
      'tollgate_upstream_credential_disabled',
      '1 while the upstream refuses this credential, else 0; credentials are numbered as in the catalog.',
      states.flatMap(({ upstream, credentials }) =>
        credentials.map(
          ({ id, state }) => [{ upstream, credential: id }, state === 'disabled' ? 1 : 0] as const,
        ),
      ),
    ),
    gauge(
      'tollgate_upstream_breaker',
      'The circuit breaker of a model at an upstream: 0 closed, 1 half open, 2 open.',
      models.map(({ labels, breaker }) => [labels, BREAKER_VALUES[breaker]]),
    ),
    gauge(
      'tollgate_upstream_out_of_service',
      '1 while the operator has taken the model out of service at the upstream, else 0.',
      models.map(({ labels, disabled }) => [labels, disabled === true ? 1 : 0]),
    ),
  ];
}

/** Under the names that generic dashboards expect. */
function readProcess(startedAt: number): Family[] {
  return [
    counter(
      'process_cpu_seconds_total',
      'Total user and system CPU time spent in seconds.',
      cpuSeconds(),
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', residentBytes() ?? 0),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      startedAt,
    ),
    gauge(
      'process_open_fds',
      'Number of open file descriptors, where the system reports it.',
      openDescriptors(),
    ),
  ];
}

/** 0 except on Linux, which has the directory. */
function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}
