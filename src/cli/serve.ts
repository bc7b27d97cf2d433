// `tollgate serve`: the one place that constructs everything, from the settings to the listening
// server, and the order in which it ends.

import { createLiveCatalog } from '../catalog/live.ts';
import { type Config, httpUrl, publicUrl } from '../config.ts';
import { createDeadlines } from '../core/deadlines.ts';
import type { RandomBytes } from '../core/id.ts';
import type { GenerateDependencies } from '../generate/call.ts';
import { createInFlight } from '../generate/in-flight.ts';
import { loadTokenizer } from '../generate/tokenizer.ts';
import type { ListDependencies } from '../http/lists.ts';
import { createOperatorAccess } from '../http/operator-access.ts';
import { type GatewayServer, type ServerDependencies, startServer } from '../http/server.ts';
import { createTallies } from '../http/tally.ts';
import { createAccess } from '../identity/access.ts';
import { createAccounts } from '../identity/accounts.ts';
import { createNetworkSet } from '../identity/address.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createKeyActivity } from '../identity/key-activity.ts';
import { keyRecord } from '../identity/key-record.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createBooks } from '../ledger/books.ts';
import { createHistory } from '../ledger/history.ts';
import { createLimits } from '../limits/limits.ts';
import { createReasoningStore, forgetThinking } from '../reasoning/reasoning.ts';
import { createAttempts } from '../upstream/attempt.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { answerDemo } from '../upstream/demo.ts';
import { createHealth } from '../upstream/health.ts';
import { systemLookup } from '../upstream/resolver.ts';
import { startTimer } from '../upstream/timer.ts';
import { VERSION } from '../version.ts';
import { createCatalogFile } from './catalog-file.ts';
import { CommandError } from './command.ts';
import type { Context } from './context.ts';
import { welcomeDemo } from './demo.ts';
import { createObservation } from './observation.ts';
import { createOperators } from './operators.ts';
import { proxiedSchemes } from './runtime.ts';
import { createSelfAudit } from './self-audit.ts';
import { openServingStore, type ServingStore } from './serving-store.ts';
import { drain, stopSignal } from './shutdown.ts';

/** How exact timeouts are. */
const DEADLINE_SWEEP_MS = 250;

/** How often a few old rows of kept thinking are removed. */
const REASONING_SWEEP_MS = 1_000;

/** Younger requests may be about to get their hold, or to lose it: the audit leaves them alone. */
const AUDITED_AGE_MS = 60_000;

export type ServeOptions = {
  /** Makes a demonstration account on the first run and prints how to use it. */
  readonly demo: boolean;
  /** In place of the settings. */
  readonly port: number | undefined;
  readonly host: string | undefined;
};

/** Serves until SIGTERM or SIGINT; resolves with the exit code once everything is settled. */
export async function serve(context: Context, options: ServeOptions): Promise<number> {
  const config = withOverrides(context.config(), options);
  const first = context.loadedCatalog();
  const { clock } = context;
  const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));
  const monotonic = (): number => performance.now();
  const observation = createObservation({ config, clock, monotonic });
  const { log, metrics, alert } = observation;
  const tokenizer = await loadTokenizer();

  // The database, and the domains that live in it.
  const catalogFile = createCatalogFile(context);
  const live = createLiveCatalog({ first, read: catalogFile.read, clock });
  const usdPerMillion = () => live.current().usdPerMillion;
  const store = await openServingStore({
    config,
    log,
    alert,
    clock,
    usdPerMillion,
    onBatch: metrics.batch,
  });
  const { database, ledger } = store;
  const books = createBooks(database);
  const { openBalance } = books;
  const plans = () => live.current().plans;
  const accounts = createAccounts({ database, clock, randomBytes, plans, openBalance });
  const keys = createKeys({ database, clock, randomBytes, plans });
  const settings = createSettings({ database, clock, randomBytes });
  const authenticator = createAuthenticator({ database, clock });
  const activity = createKeyActivity({
    database,
    onError: (error) => log.error('the last use of keys could not be written', error),
  });
  const reasoning = createReasoningStore({
    database,
    clock,
    randomBytes,
    secret: config.sessionSecret,
    onTrouble: (error) => log.error('the reasoning store could not be used', error),
  });
  if (config.reasoningStore === 'off') forgetThinking(database);
  const operators = createOperators({
    ...{ database, live, file: catalogFile, clock, log, alert },
    onChange() {
      authenticator.invalidate();
      reasoning.recount();
    },
  });

  // The way of a request.
  const deadlines = createDeadlines(monotonic);
  const inFlight = createInFlight();
  const limits = createLimits({
    clock,
    monotonic,
    isLive: inFlight.isLive,
    history: createHistory(database),
  });
  const onInternal = (requestId: string, error: unknown): void =>
    alert({ kind: 'internal_error', requestId }, error);
  const health = createHealth({ catalog: live.current, clock, monotonic, startTimer, alert });
  const client = createUpstreamClient({
    fetch,
    answerDemo: (body) => answerDemo(body),
    lookup: systemLookup,
    clock,
    monotonic,
    userAgent: `tollgate/${VERSION}`,
    proxiedSchemes: proxiedSchemes(process.env),
  });
  const generation: GenerateDependencies = {
    clock,
    monotonic,
    random: Math.random,
    randomBytes,
    limits,
    ledger,
    tokenizer,
    reasoning: config.reasoningStore === 'on' ? reasoning : undefined,
    startAttempt: createAttempts({ client, clock, deadlines }),
    health,
    startTimer,
    inFlight,
    alert,
    onInternal,
    heartbeatMs: config.heartbeatMs,
    silentCommitMs: config.silentCommitMs,
  };
  const lists: ListDependencies = {
    limits,
    books,
    clock,
    keyRecords: ({ accountId, keyId }) =>
      keys.list(accountId).map((row) => keyRecord(row, clock(), keyId)),
  };

  const selfAudit = createSelfAudit({
    url: `sqlite:${config.databasePath}`,
    everyMs: config.auditMs,
    live() {
      const unwritten = new Set(ledger.unwritten());
      return {
        requests: [...inFlight.live(), ...unwritten],
        claims: limits.claims().filter(({ requestId }) => !unwritten.has(requestId)),
        createdBefore: clock() - AUDITED_AGE_MS,
      };
    },
    log,
    alert,
  });

  // The server, until it is told to stop.
  let draining = false;
  const tallies = createTallies({ monotonic, tell: observation.request });
  const trustedProxies = createNetworkSet(config.trustedProxies);
  metrics.watch({
    requestsInFlight: inFlight.count,
    streamsOpen: tallies.openStreams,
    upstreams: health.states,
    ledgerPending: ledger.pending,
    openHolds: books.openHolds,
    auditDifferences: selfAudit.differences,
    catalog: live.status,
  });
  const server = await listen(store, config, {
    operator: operators.current,
    access: createAccess({ authenticator }),
    generation,
    lists,
    randomBytes,
    clock,
    deadlines,
    trustedProxies,
    problems: store.problems,
    warnings: () => [...selfAudit.warnings(), ...operators.warnings()],
    isStopped: selfAudit.isStopped,
    draining: () => draining,
    touchKey: (keyId) => activity.touch(keyId, clock()),
    onInternal,
    tallies,
    operatorAccess: createOperatorAccess({
      token: config.metricsToken,
      isPublished: config.baseUrl !== undefined || trustedProxies.contains('127.0.0.1'),
    }),
    metrics: metrics.print,
    upstreams: health.states,
    version: VERSION,
  });
  const ticking = setInterval(() => deadlines.sweep(), DEADLINE_SWEEP_MS);
  const sweeping = setInterval(reasoning.sweep, REASONING_SWEEP_MS);
  const stopEndingHolds = store.endLostHolds(inFlight);
  // From before the address is told: who knows it may change things, or stop the server, at once.
  const stopWatching = operators.watch();
  const stopped = stopSignal();
  const welcome = options.demo
    ? await welcomeDemo({ accounts, keys, ledger, settings }, publicUrl(config, server.port))
    : [];
  const lines = [
    `tollgate listening on ${httpUrl(config.host, server.port)}`,
    `catalog: ${first.path ?? 'the built-in demonstration catalog'}`,
    ...welcome,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  log.info(`serving version ${VERSION}`);

  const signal = await stopped;
  draining = true;
  log.info(`${signal}: draining ${inFlight.count()} requests`);
  await drain({ server, inFlight, log, drainMs: config.drainMs });
  client.close();
  stopWatching();
  clearInterval(ticking);
  clearInterval(sweeping);
  stopEndingHolds();
  selfAudit.close();
  activity.flush();
  const unsettled = await store.close();
  await observation.close();
  log.info(unsettled === 0 ? 'stopped' : `stopped with ${unsettled} commands unsettled`);
  log.flush();
  return unsettled === 0 ? 0 : 1;
}

function withOverrides(config: Config, options: ServeOptions): Config {
  return { ...config, port: options.port ?? config.port, host: options.host ?? config.host };
}

async function listen(
  store: ServingStore,
  { host, port }: Config,
  dependencies: ServerDependencies,
): Promise<GatewayServer> {
  try {
    return startServer(dependencies, { hostname: host, port });
  } catch (cause) {
    await store.close();
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    throw new CommandError(
      'address_unavailable',
      taken
        ? `The port ${port} of ${host} is in use. Stop what uses it, or choose another one with PORT or --port.`
        : `The server cannot listen on port ${port} of ${host}. Check HOST and PORT.`,
    );
  }
}
