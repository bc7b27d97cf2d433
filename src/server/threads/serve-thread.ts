// Constructs what a server thread is made of, in the order of `serve`, and ends it. Called by the
// thread's entry point alone.

import { every } from '../../async/every.ts';
import { createLiveCatalog, loadFound } from '../../catalog/live.ts';
import { createInFlight } from '../../generate/in-flight.ts';
import { loadTokenizer } from '../../generate/tokenizer.ts';
import { type ServerDependencies, startServer } from '../../http/server.ts';
import { createLinkedLedger } from '../../ledger/linked.ts';
import type { ServingLedger } from '../../ledger/remote.ts';
import { openServingDatabase } from '../../store/serving.ts';
import { createWriterClient, type WriterClient } from '../../store/writer/client.ts';
import { createCatalogFile } from '../catalog-file.ts';
import { deploymentOf } from '../deployment.ts';
import { openDomains } from '../domains.ts';
import { createNodeLedger } from '../fenced-ledger.ts';
import { createHandlers } from '../handlers.ts';
import { createInputs, type Inputs } from '../inputs.ts';
import { openServingRedis } from '../limits.ts';
import { createServingPipeline } from '../pipeline.ts';
import { drain } from '../shutdown.ts';
import { ownLive } from '../workers.ts';
import { agreeOnTime } from './clock.ts';
import { createThreadObservation, type ThreadObservation } from './events.ts';
import {
  type FromServerThread,
  NO_LOAD,
  type SharedState,
  type ThreadLoad,
  type ThreadStart,
  type ToServerThread,
} from './protocol.ts';
import { createHop } from './proxy.ts';

/** How exact timeouts are. */
const DEADLINE_SWEEP_MS = 250;

/** How often slots are looked after whose request is gone, and the main thread is told of the load. */
const LEASE_SWEEP_MS = 1_000;
const LOAD_MS = 500;

export type ServingThread = {
  readonly hear: (message: Exclude<ToServerThread, { kind: 'start' }>) => void;
};

type Post = (message: FromServerThread) => void;

export function serveThread(start: ThreadStart, post: Post): ServingThread {
  let { state, catalog } = start;
  let isDraining = false;
  const deployment = deploymentOf(start.config.databaseUrl);
  const time = agreeOnTime(() => post({ kind: 'time' }));
  const hurried = Promise.withResolvers<void>();
  const observation = createThreadObservation(time.monotonic, (news) =>
    post({ kind: 'told', news, load: serving?.load() ?? NO_LOAD }),
  );
  // From the first moment on: the port of the ledger may come before anything else is ready.
  const link = createLinkedLedger({
    onTrouble: ({ kind, requestId, cause }) =>
      observation.alert({ kind: 'ledger_failing', trouble: kind, requestId }, cause),
    onBatch: observation.batch,
  });
  const writer = createWriterClient();
  // By its own look at the clock: the main thread may stand still.
  const isFenced = (): boolean => time.monotonic() >= state.fencedFrom;
  const base: Base = {
    ...{ start, post, observation, writer, isFenced, hurried: hurried.promise },
    ledger: createNodeLedger(link, {
      boot: () => state.boot,
      isFenced,
      onUnbooked: deployment.onUnbooked(observation.log),
    }),
    monotonic: time.monotonic,
    state: () => state,
    catalog: () => catalog,
    isDraining: () => isDraining,
  };
  let serving: Listening | undefined;
  // What it throws ends the thread.
  const begun = begin();

  async function begin(): Promise<void> {
    await time.agreed;
    const parts = await createParts(base);
    if (isDraining) return;
    serving = listen(base, parts);
    post({ kind: 'listening', port: serving.port });
  }

  async function end(): Promise<void> {
    // One that is told to end while it begins has nothing under way.
    await begun;
    post({ kind: 'drained', unsettled: (await serving?.end()) ?? 0 });
  }

  function hear(message: Exclude<ToServerThread, { kind: 'start' }>): void {
    switch (message.kind) {
      case 'time':
        time.told(message.nowMs);
        break;
      case 'ledger':
        link.link(message.port);
        writer.link(message.writer);
        break;
      case 'ledger lost':
        link.unlink(new Error('The thread of the ledger has stopped.'), true);
        writer.unlink();
        break;
      case 'state':
        state = message.state;
        break;
      case 'look':
        // Whatever the main thread has taken up, what is remembered here may be wrong now.
        catalog = message.catalog ?? catalog;
        if (message.catalog !== undefined) void serving?.operators.reloadCatalog();
        else serving?.operators.lookSoon(true);
        break;
      case 'ask':
        if (serving !== undefined) {
          observation.flush();
          post({ kind: 'status', load: serving.load(), live: serving.live() });
        }
        break;
      case 'drain':
        isDraining = true;
        void end();
        break;
      case 'hurry':
        hurried.resolve();
        break;
    }
  }

  return { hear };
}

/** What there is of a thread before it serves, and what it is told. */
type Base = {
  readonly start: ThreadStart;
  readonly post: Post;
  readonly observation: ThreadObservation;
  readonly ledger: ServingLedger;
  /** What the domains write through. */
  readonly writer: WriterClient;
  /** Milliseconds of the main thread's clock that never jumps. */
  readonly monotonic: () => number;
  /** What the main thread knows, as it said last. */
  readonly state: () => SharedState;
  readonly catalog: () => ThreadStart['catalog'];
  readonly isFenced: () => boolean;
  readonly isDraining: () => boolean;
  /** It shall wait for nothing that runs. */
  readonly hurried: Promise<void>;
};

type Parts = Awaited<ReturnType<typeof createParts>>;

type Listening = ReturnType<typeof listen>;

async function createParts({ start, observation, ledger, writer, monotonic, ...base }: Base) {
  const { config, thread, memory, hopPath, reasoningSecret } = start;
  const { state, isFenced, isDraining } = base;
  const inputs = inputsOf(start);
  const clock = (): number => Math.floor(monotonic() + state().clockBaseMs);
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const tokenizer = await loadTokenizer(monotonic);
  const database = openServingDatabase({ url: config.databaseUrl, sync: 'normal', writer });
  const shared = { config, inputs, clock, monotonic, randomBytes, observation, database };
  // The main thread reads the file, and says when there is another one.
  const read = () => loadFound(base.catalog(), clock());
  const live = createLiveCatalog({ first: read(), read, clock });
  const domains = await openDomains(
    { ...shared, reasoningSecret, tells: false },
    { file: createCatalogFile(inputs), live },
    database,
  );
  const redis = await openServingRedis(config.redis, observation.log);
  const liveNodes = () => state().liveNodes;
  const deployment = deploymentOf(config.databaseUrl);
  const parts = { ...shared, deployment, domains, ledger, tokenizer, redis, liveNodes };
  const pipeline = await createServingPipeline({ ...parts, shared: { memory, thread } });
  const handlers = createHandlers({ ...shared, domains, pipeline, tell: observation.request });
  const handedOver = createInFlight();
  const mainThread = createHop(hopPath, handedOver);
  const dependencies: ServerDependencies = {
    ...handlers,
    problems: async () => [],
    warnings: () => [],
    isStopped: (accountId) => state().stopped.includes(accountId),
    draining: isDraining,
    isRefusing: () => isDraining() || isFenced(),
    metrics: async () => ({ contentType: '', text: '' }),
    upstreams: pipeline.health.states,
    load: handlers.ownLoad,
    dashboard: mainThread,
    mainThread,
  };
  return { database, domains, redis, pipeline, handlers, handedOver, dependencies };
}

/** Serves from now on. */
function listen({ start, post, observation, ledger, hurried }: Base, parts: Parts) {
  const { pipeline, handlers, handedOver, domains } = parts;
  const { host: hostname, drainMs } = start.config;
  const address = { hostname, port: start.port, isShared: true };
  const server = startServer(parts.dependencies, address);
  const timers = [
    every(DEADLINE_SWEEP_MS, pipeline.deadlines.sweep),
    every(LEASE_SWEEP_MS, pipeline.sweepLimits),
    every(LOAD_MS, observation.flush),
  ];
  const { operators } = domains;
  const stopWatching = operators.watch(pipeline.health.reset, async (atMs, isNews) =>
    post({ kind: 'seen', atMs, isNews }),
  );
  const inFlight = {
    count: () => pipeline.inFlight.count() + handedOver.count(),
    abortAll: pipeline.inFlight.abortAll,
    idle: async () => {
      await Promise.all([pipeline.inFlight.idle(), handedOver.idle()]);
    },
  };

  return {
    port: server.port,
    operators,
    load: (): ThreadLoad => ({
      ...handlers.ownLoad(),
      ledgerProblem: ledger.problem(),
      upstreams: pipeline.health.states(),
    }),
    live: () => ownLive(pipeline),
    /** Lets what is under way finish. Resolves with the commands that could not be written. */
    async end(): Promise<number> {
      await drain({ server, inFlight, log: observation.log, drainMs, hurry: hurried });
      pipeline.closeClient();
      await pipeline.closeLimits();
      parts.redis?.close();
      stopWatching();
      for (const stop of timers) stop();
      await domains.activity.flush();
      const unsettled = await ledger.close();
      await parts.database.close();
      observation.close();
      return unsettled;
    },
  };
}

/** What the main thread has read is not read again: it may have come through a pipe. */
function inputsOf({ config, directory, environment, catalog }: ThreadStart): Inputs {
  const inputs = createInputs(process.env, directory);
  return {
    ...inputs,
    config: () => config,
    environment: () => environment,
    foundCatalog: () => catalog,
    loadedCatalog: () => loadFound(catalog, inputs.clock()),
  };
}
