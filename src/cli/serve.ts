// `tollgate serve`: the one place that constructs everything, and the order in which it ends.

import { basename } from 'node:path';
import { loadCatalog } from '../catalog/catalog.ts';
import { createIncidents } from '../catalog/incidents.ts';
import { findCatalog } from '../catalog/source.ts';
import { type Config, publicUrl, readConfig } from '../config.ts';
import { createDeadlines } from '../core/deadlines.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import { createInFlight, type InFlight } from '../generate/in-flight.ts';
import { loadTokenizer } from '../generate/tokenizer.ts';
import { type GatewayServer, startServer } from '../http/server.ts';
import { createAccess } from '../identity/access.ts';
import { createAccounts } from '../identity/accounts.ts';
import { createNetworkSet } from '../identity/address.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createBlocklist } from '../identity/blocks.ts';
import { createKeyActivity } from '../identity/key-activity.ts';
import { keyRecord } from '../identity/key-record.ts';
import { createKeys } from '../identity/keys.ts';
import { createSettings } from '../identity/settings.ts';
import { createLedger, type Ledger } from '../ledger/ledger.ts';
import { createLimits } from '../limits/limits.ts';
import { createLog, type Log } from '../observe/log.ts';
import { type Database, openDatabase, watchForeignCommits } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { createAttempts } from '../upstream/attempt.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { answerDemo } from '../upstream/demo.ts';
import { VERSION } from '../version.ts';
import { chatDialect } from '../wire/upstream/chat.ts';
import { CommandError } from './command.ts';
import { type DemoDependencies, welcomeDemo } from './demo.ts';

/** How soon a running server takes up what the command line changed; a second is promised. */
const CHANGE_POLL_MS = 250;

/** How exact timeouts are. */
const DEADLINE_SWEEP_MS = 250;

export type ServeOptions = {
  readonly environment: Readonly<Record<string, string>>;
  readonly namesInFile?: readonly string[];
  /** Makes a demonstration account on the first run and prints how to use it. */
  readonly demo: boolean;
  readonly port?: number;
  readonly host?: string;
};

/** Serves until SIGTERM or SIGINT; resolves with the exit code once everything is settled. */
export async function serve(options: ServeOptions): Promise<number> {
  const config = withOverrides(readConfig(options.environment, options.namesInFile), options);
  const log = createLog(config.logLevel);
  const clock = Date.now;
  const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));
  const { catalog, origin } = readCatalog(config, options, clock());
  const tokenizer = await loadTokenizer();

  const database = openDatabase({
    url: `sqlite:${config.databasePath}`,
    sync: config.ledgerSync,
    deferSync: true,
  });
  migrate(database);
  const ledger = createLedger({
    database,
    onTrouble: ({ kind, requestId, cause }) => log.error(`ledger: ${kind} ${requestId}`, cause),
  });
  const onInternal = (requestId: string, error: unknown): void =>
    log.error(`internal error in ${requestId}`, error);
  const plans = () => catalog.plans;
  const accounts = createAccounts({
    database,
    clock,
    randomBytes,
    plans,
    openBalance: ledger.openBalance,
  });
  const keys = createKeys({ database, clock, randomBytes, plans });
  const authenticator = createAuthenticator({ database, clock });
  const blocklist = createBlocklist({ database });
  const settings = createSettings({ database, clock, randomBytes });
  const incidents = createIncidents({ database, clock });
  const activity = createKeyActivity({
    database,
    onError: (error) => log.error('the last use of keys could not be written', error),
  });
  const stopWatching = watchForeignCommits(database, CHANGE_POLL_MS, () => {
    authenticator.invalidate();
    blocklist.reload();
    settings.reload();
    incidents.reload();
  });

  const limits = createLimits({ clock, usageSince: ledger.usageSince });
  const inFlight = createInFlight();
  const deadlines = createDeadlines();
  let draining = false;
  const server = listen(
    {
      access: createAccess({ authenticator, blocklist, maintenance: settings.maintenance }),
      generation: {
        clock,
        random: Math.random,
        randomBytes,
        catalog: () => catalog,
        incidentOf: incidents.of,
        limits,
        ledger,
        tokenizer,
        startAttempt: createAttempts({
          client: createUpstreamClient({ fetch, answerDemo: (body) => answerDemo(body) }),
          dialect: chatDialect,
          clock,
          deadlines,
        }),
        inFlight,
        report: log.request,
        alert: (message) => log.error(message),
        onInternal,
        heartbeatMs: config.heartbeatMs,
        silentCommitMs: config.silentCommitMs,
      },
      lists: {
        catalog: () => catalog,
        incidentOf: incidents.of,
        limits,
        ledger,
        clock,
        keyRecords: (facts) =>
          keys.list(facts.accountId).map((row) => keyRecord(row, clock(), facts.keyId)),
      },
      randomBytes,
      clock,
      deadlines,
      trustedProxies: createNetworkSet(config.trustedProxies),
      problems: () => problemsOf(database, ledger),
      draining: () => draining,
      touchKey: (keyId) => activity.touch(keyId, clock()),
      onInternal,
      version: VERSION,
    },
    { hostname: config.host, port: config.port },
  );

  const ticking = setInterval(() => deadlines.sweep(clock()), DEADLINE_SWEEP_MS);
  // From before the address is told: who knows it may stop the server at once.
  const stopped = stopSignal();
  await announce(config, options, server, origin, {
    accounts,
    keys,
    ledger,
    settings,
    program: programName(),
  });
  log.info(`serving version ${VERSION}`);
  const signal = await stopped;
  draining = true;
  log.info(`${signal}: draining ${inFlight.count()} requests`);
  await drain(config, server, inFlight, log);
  stopWatching();
  clearInterval(ticking);
  activity.flush();
  const unsettled = ledger.close();
  database.close();
  log.info(unsettled === 0 ? 'stopped' : `stopped with ${unsettled} commands unsettled`);
  log.flush();
  return unsettled === 0 ? 0 : 1;
}

/** The executable is Bun itself where the source is run, which scripts/tollgate does. */
function programName(): string {
  return basename(process.execPath).startsWith('bun') ? 'scripts/tollgate' : process.argv0;
}

function withOverrides(config: Config, options: ServeOptions): Config {
  return { ...config, port: options.port ?? config.port, host: options.host ?? config.host };
}

function readCatalog(
  config: Config,
  options: ServeOptions,
  nowMs: number,
): { catalog: Catalog; origin: string } {
  const found = findCatalog({
    path: config.catalogPath,
    environment: options.environment,
    directory: process.cwd(),
  });
  const catalog = loadCatalog({ ...found, nowMs });
  return { catalog, origin: found.path ?? 'the built-in demonstration catalog' };
}

/** What keeps this process from serving; checked when asked, never on the request path. */
function problemsOf(database: Database, ledger: Ledger): readonly string[] {
  try {
    database.connection.query('SELECT 1').get();
  } catch {
    return ['the database cannot be read'];
  }
  return ledger.pending() > LEDGER_BACKLOG_MAX ? ['the ledger is behind'] : [];
}

/** Commands waiting for the disk above which no new request should be sent here. */
const LEDGER_BACKLOG_MAX = 10_000;

async function announce(
  config: Config,
  options: ServeOptions,
  server: GatewayServer,
  origin: string,
  demo: DemoDependencies,
): Promise<void> {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const lines = [
    `tollgate listening on http://${host}:${server.port}`,
    `catalog: ${origin}`,
    ...(options.demo ? await welcomeDemo(demo, publicUrl(config, server.port)) : []),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function listen(...[dependencies, address]: Parameters<typeof startServer>): GatewayServer {
  try {
    return startServer(dependencies, address);
  } catch (cause) {
    const { hostname, port } = address;
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    throw new CommandError(
      'address_unavailable',
      taken
        ? `The port ${port} of ${hostname} is in use. Stop what uses it, or choose another one with PORT or --port.`
        : `The server cannot listen on port ${port} of ${hostname}. Check HOST and PORT.`,
    );
  }
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

/**
 * Running requests get the drain time to finish; what is left then is ended like a stream that
 * broke, which settles it. A second signal ends the wait at once.
 */
async function drain(
  config: Config,
  server: GatewayServer,
  inFlight: InFlight,
  log: Log,
): Promise<void> {
  const stopped = server.stop();
  const idle = inFlight.idle().then(() => true);
  const again = stopSignal().then(() => false);
  if ((await within(config.drainMs, Promise.race([idle, again]))) !== true) {
    log.warn(`ending ${inFlight.count()} requests that are still running`);
    inFlight.abortAll();
    await within(END_GRACE_MS, idle);
  }
  await within(CLOSE_GRACE_MS, stopped);
  // Connections that a client keeps open without a request would hold the process for ever.
  await server.close();
}

/** What the promise resolves to, or `undefined` when the time is up; leaves no timer behind. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** For what was ended to settle; only a request whose body never arrives needs longer. */
const END_GRACE_MS = 4_000;

/** For the last bytes to leave after the last answer was written. */
const CLOSE_GRACE_MS = 500;
