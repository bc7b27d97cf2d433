// A server thread: the same request path as the main thread's, over a connection of its own, with the
// counters of the limits in shared memory and the ledger behind a port. Called by its entry point.

import { every } from '../../async/every.ts';
import { createLiveCatalog, loadFound } from '../../catalog/live.ts';
import type { FoundCatalog } from '../../catalog/source.ts';
import { createInFlight } from '../../generate/in-flight.ts';
import { type ServerDependencies, startServer } from '../../http/server.ts';
import { createLedgerClient, type ServingLedger } from '../../ledger/client.ts';
import { openServingDatabase } from '../../store/serving-database.ts';
import { createWriterClient, type WriterClient } from '../../store/writer/client.ts';
import { createCatalogFile } from '../catalog-file.ts';
import { deploymentOf } from '../deployment.ts';
import { createFencedLedger } from '../fenced-ledger.ts';
import { createInputs, type Inputs } from '../inputs.ts';
import { createRequestPath } from '../request-path.ts';
import { drain } from '../shutdown.ts';
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
import { createProxy } from './proxy.ts';

/** How often the main thread is told of the load. */
const LOAD_MS = 500;

type Post = (message: FromServerThread) => void;

type ToRunning = Exclude<ToServerThread, { kind: 'start' }>;

/** Returns what takes the messages of the main thread. An error that it throws ends the thread. */
export function serveThread(start: ThreadStart, post: Post): (message: ToRunning) => void {
  let { state, catalog } = start;
  let isDraining = false;
  let serving: Serving | undefined;
  const time = agreeOnTime(() => post({ kind: 'time' }));
  const hurried = Promise.withResolvers<void>();
  const observation = createThreadObservation(time.monotonic, (events) =>
    post({ kind: 'events', events, load: serving?.load() ?? NO_LOAD }),
  );
  const writer = createWriterClient();
  // Before anything else is ready: the port of the ledger may come at once.
  const ledger = createLedgerClient({
    writer,
    onTrouble: ({ kind, requestId, cause }) =>
      observation.alert({ kind: 'ledger_failing', trouble: kind, requestId }, cause),
    onBatch: observation.batch,
  });
  const begun = begin();

  async function begin(): Promise<void> {
    await time.agreed;
    const opened = await openThread({
      ...{ start, observation, ledger, writer, monotonic: time.monotonic },
      state: () => state,
      catalog: () => catalog,
      isDraining: () => isDraining,
      onSeen: async (atMs, hasChanges) => post({ kind: 'seen', atMs, hasChanges }),
    });
    if (isDraining) return;
    serving = opened.listen();
    post({ kind: 'listening', port: serving.port });
  }

  async function end(): Promise<void> {
    // A thread that is ended while it begins serves no request.
    await begun;
    post({ kind: 'drained', unsettled: (await serving?.end(hurried.promise)) ?? 0 });
  }

  return (message) => {
    switch (message.kind) {
      case 'time':
        time.answer(message.nowMs);
        break;
      case 'ledger':
        ledger.link(message.port, message.writer);
        break;
      case 'ledger lost':
        ledger.unlink(new Error('The thread of the ledger has stopped.'), true);
        break;
      case 'state':
        state = message.state;
        break;
      case 'look':
        catalog = message.catalog ?? catalog;
        if (message.catalog !== undefined) void serving?.operators.reloadCatalog();
        else serving?.operators.lookSoon(true);
        break;
      case 'ask':
        if (serving === undefined) break;
        observation.flush();
        post({ kind: 'status', load: serving.load(), live: serving.live() });
        break;
      case 'drain':
        isDraining = true;
        void end();
        break;
      case 'hurry':
        hurried.resolve();
        break;
    }
  };
}

type ThreadOptions = {
  readonly start: ThreadStart;
  readonly observation: ThreadObservation;
  readonly ledger: ServingLedger;
  readonly writer: WriterClient;
  /** Milliseconds of the main thread's clock that never jumps. */
  readonly monotonic: () => number;
  /** What the main thread posted last. */
  readonly state: () => SharedState;
  readonly catalog: () => FoundCatalog;
  readonly isDraining: () => boolean;
  readonly onSeen: (atMs: number, hasChanges: boolean) => Promise<void>;
};

type Serving = ReturnType<Awaited<ReturnType<typeof openThread>>['listen']>;

async function openThread(options: ThreadOptions) {
  const { start, observation, ledger, writer, monotonic, state, isDraining } = options;
  const { config, memory, thread, reasoningSecret } = start;
  const deployment = deploymentOf(config.databaseUrl);
  const clock = (): number => Math.floor(monotonic() + state().clockBaseMs);
  // By this thread's own look at the clock: the main thread may stand still.
  const isFenced = (): boolean => monotonic() >= state().fencedFrom;
  const database = openServingDatabase({ url: config.databaseUrl, sync: 'normal', writer });
  // The main thread reads the file, and posts a new one.
  const read = () => loadFound(options.catalog(), clock());
  const path = await createRequestPath({
    ...{ config, deployment, clock, monotonic, observation, database, reasoningSecret },
    ledger: createFencedLedger(ledger, {
      incarnation: () => state().incarnation,
      isFenced,
      onUnbooked: deployment.onUnbooked(observation.log),
    }),
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    catalog: {
      file: createCatalogFile(inputsOf(start)),
      live: createLiveCatalog({ first: read(), read, clock }),
    },
    tells: false,
    liveNodes: () => state().liveNodes,
    shared: { memory, thread },
  });
  const { pipeline, handlers, domains } = path;
  const handedOver = createInFlight();
  const mainThread = createProxy(start.proxyPath, handedOver);
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
  const inFlight = {
    count: () => pipeline.inFlight.count() + handedOver.count(),
    abortAll: pipeline.inFlight.abortAll,
    idle: async () => {
      await Promise.all([pipeline.inFlight.idle(), handedOver.idle()]);
    },
  };

  function listen() {
    const address = { hostname: config.host, port: start.port, isShared: true };
    const server = startServer(dependencies, address);
    const stops = [path.start(options.onSeen), every(LOAD_MS, observation.flush)];
    return {
      port: server.port,
      operators: domains.operators,
      live: path.live,
      load: (): ThreadLoad => ({
        ...path.load(),
        ledgerProblem: ledger.problem(),
        upstreams: pipeline.health.states(),
      }),
      /** Finishes what is open. Resolves with the commands that could not be written. */
      async end(hurry: Promise<void>): Promise<number> {
        const { drainMs } = config;
        await drain({ server, inFlight, log: observation.log, drainMs, hurry });
        for (const stop of stops) stop();
        await path.close();
        const unsettled = await ledger.close();
        await database.close();
        observation.close();
        return unsettled;
      },
    };
  }

  return { listen };
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
