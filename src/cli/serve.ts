// `tollgate serve`: the one place that constructs everything, from the settings to the listening
// server, and the order in which it ends.

import { createIncidents } from '../catalog/incidents.ts';
import { type Config, httpUrl, publicUrl } from '../config.ts';
import { createDeadlines } from '../core/deadlines.ts';
import type { RandomBytes } from '../core/id.ts';
import type { GenerateDependencies } from '../generate/call.ts';
import { createInFlight } from '../generate/in-flight.ts';
import { loadTokenizer } from '../generate/tokenizer.ts';
import type { ListDependencies } from '../http/lists.ts';
import { type GatewayServer, type ServerDependencies, startServer } from '../http/server.ts';
import { createAccess } from '../identity/access.ts';
import { createAccounts } from '../identity/accounts.ts';
import { createNetworkSet } from '../identity/address.ts';
import { lastAuditEvent } from '../identity/audit.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createBlocklist } from '../identity/blocks.ts';
import { createKeyActivity } from '../identity/key-activity.ts';
import { keyRecord } from '../identity/key-record.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createBooks } from '../ledger/books.ts';
import { createHistory } from '../ledger/history.ts';
import { createLimits } from '../limits/limits.ts';
import { createLog } from '../observe/log.ts';
import { createReasoningStore, forgetThinking } from '../reasoning/reasoning.ts';
import { watchForeignCommits } from '../store/database.ts';
import { createAttempts } from '../upstream/attempt.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { answerDemo } from '../upstream/demo.ts';
import { VERSION } from '../version.ts';
import { CommandError } from './command.ts';
import type { Context } from './context.ts';
import { welcomeDemo } from './demo.ts';
import { createSelfAudit } from './self-audit.ts';
import { openServingStore, type ServingStore } from './serving-store.ts';
import { drain, stopSignal } from './shutdown.ts';

/** How soon a running server takes up what the command line changed; a second is promised. */
const CHANGE_POLL_MS = 250;

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
  const catalog = context.catalog();
  const { clock } = context;
  const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));
  const log = createLog(config.logLevel);
  const tokenizer = await loadTokenizer();

  // The database, and the domains that live in it.
  const { usdPerMillion } = catalog;
  const store = await openServingStore({ config, log, clock, usdPerMillion });
  const { database, ledger } = store;
  const books = createBooks(database);
  const { openBalance } = books;
  const plans = () => catalog.plans;
  const accounts = createAccounts({ database, clock, randomBytes, plans, openBalance });
  const keys = createKeys({ database, clock, randomBytes, plans });
  const settings = createSettings({ database, clock, randomBytes });
  const incidents = createIncidents({ database, clock });
  const authenticator = createAuthenticator({ database, clock });
  const blocklist = createBlocklist({ database });
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
  let lastChange = lastAuditEvent(database);
  const stopWatching = watchForeignCommits(database, CHANGE_POLL_MS, () => {
    // The ledger commits all the time; what an operator changes is in the audit trail.
    const change = lastAuditEvent(database);
    if (change === lastChange) return;
    lastChange = change;
    authenticator.invalidate();
    blocklist.reload();
    settings.reload();
    incidents.reload();
    reasoning.recount();
  });

  // The way of a request.
  const monotonic = (): number => performance.now();
  const deadlines = createDeadlines(monotonic);
  const inFlight = createInFlight();
  const limits = createLimits({
    clock,
    monotonic,
    isLive: inFlight.isLive,
    history: createHistory(database),
  });
  const onInternal = (requestId: string, error: unknown): void =>
    log.error(`internal error in ${requestId}`, error);
  const generation: GenerateDependencies = {
    clock,
    monotonic,
    random: Math.random,
    randomBytes,
    catalog: () => catalog,
    incidentOf: incidents.of,
    limits,
    ledger,
    tokenizer,
    reasoning: config.reasoningStore === 'on' ? reasoning : undefined,
    startAttempt: createAttempts({
      client: createUpstreamClient({ fetch, answerDemo: (body) => answerDemo(body) }),
      clock,
      deadlines,
    }),
    inFlight,
    report: log.request,
    alert: (message) => log.error(message),
    onInternal,
    heartbeatMs: config.heartbeatMs,
    silentCommitMs: config.silentCommitMs,
  };
  const lists: ListDependencies = {
    catalog: () => catalog,
    incidentOf: incidents.of,
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
  });

  // The server, until it is told to stop.
  let draining = false;
  const server = await listen(store, config, {
    access: createAccess({ authenticator, blocklist, maintenance: settings.maintenance }),
    generation,
    lists,
    randomBytes,
    clock,
    deadlines,
    trustedProxies: createNetworkSet(config.trustedProxies),
    problems: store.problems,
    warnings: selfAudit.warnings,
    isStopped: selfAudit.isStopped,
    draining: () => draining,
    touchKey: (keyId) => activity.touch(keyId, clock()),
    onInternal,
    version: VERSION,
  });
  const ticking = setInterval(() => deadlines.sweep(), DEADLINE_SWEEP_MS);
  const sweeping = setInterval(reasoning.sweep, REASONING_SWEEP_MS);
  const stopEndingHolds = store.endLostHolds(inFlight);
  // From before the address is told: who knows it may stop the server at once.
  const stopped = stopSignal();
  const welcome = options.demo
    ? await welcomeDemo({ accounts, keys, ledger, settings }, publicUrl(config, server.port))
    : [];
  const lines = [
    `tollgate listening on ${httpUrl(config.host, server.port)}`,
    `catalog: ${context.catalogPath() ?? 'the built-in demonstration catalog'}`,
    ...welcome,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  log.info(`serving version ${VERSION}`);

  const signal = await stopped;
  draining = true;
  log.info(`${signal}: draining ${inFlight.count()} requests`);
  await drain({ server, inFlight, log, drainMs: config.drainMs });
  stopWatching();
  clearInterval(ticking);
  clearInterval(sweeping);
  stopEndingHolds();
  selfAudit.close();
  activity.flush();
  const unsettled = await store.close();
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
