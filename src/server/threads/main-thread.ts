// A server with several threads, as its main thread has it: the limits in shared memory, the port that
// the threads listen on, the socket by which they hand over what is not theirs. Made by serve.

import { catalogDigest } from '../../catalog/live.ts';
import {
  createMainThread,
  type GatewayServer,
  type ServerDependencies,
} from '../../http/server.ts';
import { addLimitsLoads } from '../../limits/load.ts';
import type { LimitMemory } from '../../limits/threads.ts';
import type { ServingAudit } from '../audit.ts';
import type { Base } from '../base.ts';
import type { CatalogSource } from '../domains.ts';
import type { Inputs } from '../inputs.ts';
import type { Observation } from '../observation.ts';
import { drain } from '../shutdown.ts';
import type { ServingStore } from '../store.ts';
import type { OwnWork, Workers } from '../workers.ts';
import { observeEvents } from './events.ts';
import { createServerThreads, type ServerThreads } from './pool.ts';
import { openProxy, type ThreadProxy } from './proxy.ts';

/** The threads have the listeners, and end them when they have drained. */
const NO_SERVER = { port: 0, stop: async () => undefined, close: async () => undefined };

export type ThreadWorkersOptions = Base & {
  readonly inputs: Inputs;
  readonly memory: LimitMemory;
  readonly reasoningSecret: string;
  readonly store: ServingStore;
  readonly catalog: CatalogSource;
  readonly selfAudit: ServingAudit;
  readonly observation: Observation;
};

export function createThreadWorkers(own: OwnWork, options: ThreadWorkersOptions): Workers {
  const { config, inputs, store, selfAudit, observation, clock, monotonic } = options;
  const { live, file } = options.catalog;
  const { member } = store.node;
  let proxy: ThreadProxy | undefined;
  let threads: ServerThreads | undefined;
  let catalog = file.latest();
  let seenHere = 0;
  let clockBaseMs = 0;

  const seenAt = (): number => Math.min(seenHere, threads?.seenAt() ?? seenHere);

  /** Rounding alone is no news. */
  function clockBase(): number {
    const baseMs = clock() - monotonic();
    if (Math.abs(baseMs - clockBaseMs) > 1) clockBaseMs = baseMs;
    return clockBaseMs;
  }

  /** Where the server does not start after all. */
  async function close(): Promise<void> {
    threads?.close();
    await proxy?.close();
  }

  async function listen(dependencies: ServerDependencies): Promise<GatewayServer> {
    const { host: hostname, port } = config;
    await requireFree(hostname, port);
    const opened = openProxy(createMainThread(dependencies));
    proxy = opened;
    const started = createServerThreads({
      count: config.workers,
      port,
      start: {
        config,
        directory: inputs.directory,
        environment: inputs.environment(),
        memory: options.memory,
        reasoningSecret: options.reasoningSecret,
        proxyPath: opened.path,
      },
      catalog: () => catalog,
      state: () => ({
        incarnation: member.incarnation(),
        fencedFrom: store.fencedFrom(),
        liveNodes: member.liveNodes(),
        clockBaseMs: clockBase(),
        stopped: selfAudit.state().stopped,
      }),
      monotonic,
      connectLedger: store.ledger.connect,
      onEvents: (events) => observeEvents(observation, events),
      onSeen: () => void member.seen(seenAt(), true).catch(() => undefined),
      async onDeath(requestIds, cause) {
        observation.alert({ kind: 'thread_stopped', requests: requestIds.length }, cause);
        await store.endHoldsOf(requestIds).catch((error: unknown) => {
          observation.log.error('ledger: holds of a server thread could not be ended', error);
        });
      },
      log: observation.log,
    });
    threads = started;
    try {
      const actual = await started.open();
      return { ...NO_SERVER, port: actual, close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  return {
    // The main thread and the ledger's, and those that serve.
    threads: 2 + config.workers,
    listen,
    load() {
      const [mine, theirs] = [own.path.load(), threads?.load()];
      if (theirs === undefined) return mine;
      return {
        requestsInFlight: mine.requestsInFlight + theirs.requestsInFlight,
        streamsOpen: mine.streamsOpen + theirs.streamsOpen,
        ledgerPending: mine.ledgerPending + theirs.ledgerPending,
        limits: addLimitsLoads(mine.limits, theirs.limits),
      };
    },
    upstreams() {
      const mine = own.path.pipeline.health.states();
      return threads?.upstreams(mine) ?? mine;
    },
    ledgerProblems: () => threads?.ledgerProblems() ?? [],
    async refresh() {
      await threads?.ask();
    },
    async live() {
      const mine = own.path.live();
      const theirs = await threads?.ask();
      if (theirs === undefined) return mine;
      return {
        requests: [...mine.requests, ...theirs.requests],
        unwritten: [...mine.unwritten, ...theirs.unwritten],
        claims: [...mine.claims, ...theirs.claims],
      };
    },
    takeUp() {
      const latest = file.latest();
      // What was read and is refused is not theirs either.
      const isNew = latest !== catalog && catalogDigest(latest.text) === live.status().digest;
      if (isNew) catalog = latest;
      threads?.look(isNew ? catalog : undefined);
    },
    seenAt(atMs) {
      seenHere = atMs;
      return seenAt();
    },
    async drain(hurry) {
      const { path, log, drainMs } = own;
      // The playground's requests are here, behind connections that the threads have.
      const [unsettled = 0] = await Promise.all([
        threads?.drain(hurry),
        drain({ server: NO_SERVER, inFlight: path.pipeline.inFlight, log, drainMs, hurry }),
      ]);
      await proxy?.close();
      return unsettled;
    },
  };
}

/** Several may listen on a port that is shared; so that no other server does, it is taken alone first. */
async function requireFree(hostname: string, port: number): Promise<void> {
  if (port === 0) return;
  const probe = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(null) });
  await probe.stop(true);
}
