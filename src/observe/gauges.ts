// Metrics that are looked up when somebody asks for them: what is under way, how upstreams do, the
// process itself. Nothing here is on the path of a request.

import { readdirSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { UpstreamState } from '../core/health.ts';

export type GaugeSources = {
  readonly requestsInFlight: () => number;
  readonly streamsOpen: () => number;
  readonly upstreams: () => readonly UpstreamState[];
  readonly ledgerPending: () => number;
  /** The open holds, and what they reserve in 10⁻⁶ service token. */
  readonly openHolds: () => Promise<{ readonly count: number; readonly amount: number }>;
  readonly auditDifferences: () => number;
  readonly catalog: () => CatalogState;
  readonly limits: () => LimitsState;
  /** How often a changed catalog was refused. */
  readonly catalogsRefused: () => number;
};

type CatalogState = {
  /** 1 at the start, and one more with each that is taken up. */
  readonly version: number;
  /** Unix milliseconds. */
  readonly loadedAt: number;
  /** Present while a changed one is refused. */
  readonly refused?: object;
};

/** Who decides about limits, and what it took. */
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

export function registerGauges(register: Registry, sources: GaugeSources): void {
  const registers = [register];
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('tollgate_requests_in_flight', 'Generations under way.', sources.requestsInFlight);
  gauge('tollgate_streams_open', 'Streams whose answer is under way.', sources.streamsOpen);
  gauge(
    'tollgate_ledger_pending',
    'Commands of the ledger that are not on disk yet.',
    sources.ledgerPending,
  );
  gauge(
    'tollgate_audit_differences',
    'Differences that the last audits of the books have found.',
    sources.auditDifferences,
  );
  registerCatalog(registers, sources);
  registerHolds(registers, sources.openHolds);
  registerUpstreams(registers, sources.upstreams);
  registerLimits(registers, sources.limits);
  registerProcess(registers);
}

function registerCatalog(
  registers: Registry[],
  { catalog, catalogsRefused }: Pick<GaugeSources, 'catalog' | 'catalogsRefused'>,
): void {
  new Gauge({
    name: 'tollgate_catalog_loaded_timestamp_seconds',
    help: 'When the catalog that serves was loaded, in Unix seconds.',
    registers,
    collect() {
      this.set(catalog().loadedAt / SECOND_MS);
    },
  });
  new Gauge({
    name: 'tollgate_catalog_refused',
    help: '1 while a changed catalog is refused and the one before it serves, else 0.',
    registers,
    collect() {
      this.set(catalog().refused === undefined ? 0 : 1);
    },
  });
  new Counter({
    name: 'tollgate_catalog_reloads_total',
    help: 'Reloads of the catalog: accepted, or refused.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      this.inc({ result: 'accepted' }, catalog().version - 1);
      this.inc({ result: 'refused' }, catalogsRefused());
    },
  });
}

const LIMITS_MODES = ['own', 'cluster', 'share'];

function registerLimits(registers: Registry[], limits: GaugeSources['limits']): void {
  new Gauge({
    name: 'tollgate_limits_mode',
    help: '1 for who decides: own (one node), cluster (by way of Redis), share (each node for itself).',
    labelNames: ['mode'],
    registers,
    collect() {
      const now = limits().mode;
      for (const mode of LIMITS_MODES) this.set({ mode }, mode === now ? 1 : 0);
    },
  });
  new Counter({
    name: 'tollgate_limits_decisions_total',
    help: 'Claims decided by what was leased, after an exchange with Redis, or by the share of the node.',
    labelNames: ['by'],
    registers,
    collect() {
      const { leased, exchanged, shared } = limits();
      this.reset();
      this.inc({ by: 'lease' }, leased);
      this.inc({ by: 'exchange' }, exchanged);
      this.inc({ by: 'share' }, shared);
    },
  });
  new Gauge({
    name: 'tollgate_redis_up',
    help: '1 while Redis can be asked, else 0; also 0 where none is set.',
    registers,
    collect() {
      this.set(limits().redis === 'up' ? 1 : 0);
    },
  });
  new Counter({
    name: 'tollgate_redis_commands_total',
    help: 'Commands to Redis, each one way there and back: answered, or failed.',
    labelNames: ['result'],
    registers,
    collect() {
      const { commands, failures } = limits();
      this.reset();
      this.inc({ result: 'answered' }, commands - failures);
      this.inc({ result: 'failed' }, failures);
    },
  });
}

function registerHolds(registers: Registry[], openHolds: GaugeSources['openHolds']): void {
  // The one that looks comes first, and they are asked in this order: both wait for one look.
  let look: ReturnType<typeof openHolds>;
  new Gauge({
    name: 'tollgate_holds_open',
    help: 'Holds on money that have not ended.',
    registers,
    async collect() {
      look = openHolds();
      const { count } = await look;
      this.set(count);
    },
  });
  new Gauge({
    name: 'tollgate_holds_open_service_tokens',
    help: 'Service tokens that the open holds reserve.',
    registers,
    async collect() {
      const { amount } = await look;
      this.set(amount / MICRO);
    },
  });
}

/** One look for all of them; series of upstreams that the catalog no longer has go away. */
function registerUpstreams(registers: Registry[], states: GaugeSources['upstreams']): void {
  // The one that looks comes first: they are asked in this order.
  new Gauge({
    name: 'tollgate_upstream_in_flight',
    help: 'Attempts under way at the upstream.',
    labelNames: ['upstream'],
    registers,
    collect() {
      for (const each of [this, queued, disabled, breaker, out]) each.reset();
      for (const { upstream, inFlight, queued: waiting, credentials, models } of states()) {
        this.set({ upstream }, inFlight);
        queued.set({ upstream }, waiting);
        for (const { id: credential, state } of credentials)
          disabled.set({ upstream, credential }, state === 'disabled' ? 1 : 0);
        for (const { model, breaker: state, disabled: isOut } of models) {
          breaker.set({ upstream, model }, BREAKER_VALUES[state]);
          out.set({ upstream, model }, isOut === true ? 1 : 0);
        }
      }
    },
  });
  const queued = new Gauge({
    name: 'tollgate_upstream_queued',
    help: 'Attempts that wait because the upstream has as many in flight as it may.',
    labelNames: ['upstream'],
    registers,
  });
  const disabled = new Gauge({
    name: 'tollgate_upstream_credential_disabled',
    help: '1 while the upstream refuses this credential, else 0; credentials are numbered as in the catalog.',
    labelNames: ['upstream', 'credential'],
    registers,
  });
  const breaker = new Gauge({
    name: 'tollgate_upstream_breaker',
    help: 'The circuit breaker of a model at an upstream: 0 closed, 1 half open, 2 open.',
    labelNames: ['upstream', 'model'],
    registers,
  });
  const out = new Gauge({
    name: 'tollgate_upstream_out_of_service',
    help: '1 while the operator has taken the model out of service at the upstream, else 0.',
    labelNames: ['upstream', 'model'],
    registers,
  });
}

/** Under the names that dashboards for any program know. */
function registerProcess(registers: Registry[]): void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICRO);
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    registers,
  }).set(Date.now() / SECOND_MS - process.uptime());
  new Gauge({
    name: 'process_open_fds',
    help: 'Number of open file descriptors, where the system tells it.',
    registers,
    collect() {
      try {
        this.set(readdirSync('/proc/self/fd').length);
      } catch {
        // Only Linux has it.
      }
    },
  });
}
