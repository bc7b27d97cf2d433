// `tollgate serve`: the one place that constructs everything, from the settings to the listening
// server, and the order in which it ends.

import { createDatabaseClock } from '../cluster/clock.ts';
import { type Config, httpUrl, publicUrl } from '../config.ts';
import { withDisabled } from '../core/health.ts';
import type { RandomBytes } from '../core/id.ts';
import { loadTokenizer } from '../generate/tokenizer.ts';
import { within } from '../generate/within.ts';
import { answerPlayground } from '../http/playground.ts';
import type { ServerDependencies } from '../http/server.ts';
import { createPeople } from '../identity/sign-in/people.ts';
import type { LiveRequests } from '../ledger/audit.ts';
import { createMailer } from '../mail/mail.ts';
import { isSqliteUrl } from '../store/connect.ts';
import { writeNote } from '../store/server-notes.ts';
import { VERSION } from '../version.ts';
import { createAnnouncements } from './announcements.ts';
import type { Context } from './context.ts';
import { welcomeDemo } from './demo.ts';
import { type Listeners, openListeners } from './listeners.ts';
import { createObservation } from './observation.ts';
import { createServingAudit } from './serving-audit.ts';
import { type ServingConfig, workersOf } from './serving-config.ts';
import { createServingDashboard } from './serving-dashboard.ts';
import { openServingDomains } from './serving-domains.ts';
import { createHandlers } from './serving-handlers.ts';
import { openServingRedis } from './serving-limits.ts';
import type { ServingReport } from './serving-node.ts';
import { createServingPipeline } from './serving-pipeline.ts';
import { startServingSeries } from './serving-series.ts';
import { ledgerProblem } from './serving-store.ts';
import { createOwnWorkers, type OwnWork, type Workers } from './serving-workers.ts';
import { stopSignal } from './shutdown.ts';
import { createLimitMemory, createThreadWorkers } from './threads/thread-workers.ts';

/** How exact timeouts are. */
const DEADLINE_SWEEP_MS = 250;

/** How often slots are looked after whose request is gone. */
const LEASE_SWEEP_MS = 1_000;

/** Younger requests may be about to get their hold, or to lose it: the audit leaves them alone. */
const AUDITED_AGE_MS = 60_000;

/** How often a few old rows of kept thinking are removed. */
const REASONING_SWEEP_MS = 1_000;

/** For mails that wait when the server ends: whoever misses one asks again. */
const MAIL_GRACE_MS = 2_000;

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
  // Its default would end the process while books are opened or closed; operators.ts listens between.
  process.on('SIGHUP', () => {});
  // What is wrong with it is told before anything is open.
  context.catalog();
  const monotonic = (): number => performance.now();
  const databaseClock = createDatabaseClock({ wall: context.clock, monotonic });
  // Nodes agree on the time of their database; beside a file it is the same clock anyway.
  const clock = isSqliteUrl(config.databaseUrl) ? context.clock : databaseClock.now;
  const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));
  const observation = createObservation({ config, clock, monotonic });
  const { log, metrics } = observation;
  const tokenizer = await loadTokenizer();
  const reasoningSecret = config.sessionSecret ?? Buffer.from(randomBytes(32)).toString('hex');
  const shared = { config, clock, monotonic, randomBytes, observation };
  const domains = await openServingDomains({
    ...{ context, databaseClock, ...shared, reasoningSecret },
    onTakenUp: () => workers.takeUp(),
  });
  const { live, store, books, accounts, keys, settings, activity, reasoning, operators } = domains;
  const { ledger, node, database } = store;
  const redis = await openServingRedis(config.redis, log);
  const memory = config.workers === 1 ? undefined : createLimitMemory(config.workers);
  const pipeline = await createServingPipeline({
    ...{ ...shared, domains, database, ledger, tokenizer },
    ...{ redis, liveNodes: node.member.liveNodes, shared: memory && { memory, thread: 0 } },
  });
  const { deadlines, health, client } = pipeline;
  const selfAudit = createServingAudit({
    ...{ store, url: config.databaseUrl, everyMs: config.auditMs, clock, log },
    alert: observation.alert,
    live: liveRequests,
  });
  const handlers = createHandlers({
    ...{ ...shared, domains, database, pipeline, tell: observation.request },
  });

  const announcements = createAnnouncements(redis);

  // The server, until it is told to stop.
  let leaving = false;
  let draining = false;
  const workers = createWorkers();
  const upstreams = () => withDisabled(workers.upstreams(), operators.current().isDisabled);
  const mailer = createMailer({ smtpUrl: config.smtpUrl, from: config.mailFrom, log });
  const pages = createServingDashboard({
    ...{ ...shared, domains, pipeline, selfAudit, workers, mailer, upstreams, problems },
    trustedProxies: handlers.trustedProxies,
    announce: () => void announcements.announce(),
    consoleUrl: () => console?.url,
    draining: () => draining,
    port: () => server.port,
    answerPlayground: (format, call) => answerPlayground(dependencies, format, call),
  });
  metrics.watch({
    requestsInFlight: () => workers.load().requestsInFlight,
    streamsOpen: () => workers.load().streamsOpen,
    upstreams,
    ledgerPending: () => workers.load().ledgerPending,
    openHolds: books.openHolds,
    auditDifferences: selfAudit.differences,
    catalog: live.status,
    limits: () => workers.load().limits,
  });
  const dependencies: ServerDependencies = {
    ...handlers,
    problems,
    warnings: () => [...selfAudit.warnings(), ...operators.warnings(), ...node.member.warnings()],
    isStopped: selfAudit.isStopped,
    draining: () => leaving,
    isRefusing: () => draining || node.member.isFenced(),
    metrics: async () => {
      // What one that hangs has said before is better than nothing.
      await workers.refresh().catch(() => undefined);
      return metrics.print();
    },
    upstreams,
    load: workers.load,
    dashboard: pages.dashboard,
  };
  const { server, console } = await listen();
  if (console !== undefined) await writeNote(store.database, 'console', console.url, clock());
  const ticking = setInterval(() => deadlines.sweep(), DEADLINE_SWEEP_MS);
  const leases = setInterval(pipeline.sweepLimits, LEASE_SWEEP_MS);
  const stopEndingHolds = store.endLostHolds(async () => (await workers.live()).requests);
  const stopFollowing = selfAudit.follow();
  const stopNode = await node.start(reportNode, [
    store.recoverNodes,
    selfAudit.begin,
    pages.sweepSignIn,
    sweepReasoning,
    () =>
      startServingSeries({
        ...{ database: store.database, url: config.databaseUrl, monotonic, log },
      }),
  ]);
  // From before the address is told: who knows it may change things, or stop the server, at once.
  const stopWatching = operators.watch(health.reset, (atMs, isNews) =>
    node.member.seen(workers.seenAt(atMs), isNews),
  );
  const stopListening = announcements.listen(operators.lookSoon);
  const stopped = stopSignal();
  const welcome = options.demo
    ? await welcomeDemo(
        {
          ...{ accounts, keys, ledger, settings, randomBytes },
          people: createPeople({ database: store.database, clock, randomBytes }),
        },
        publicUrl(config, server.port),
      )
    : [];
  const lines = [
    `tollgate listening on ${httpUrl(config.host, server.port)}`,
    ...(console === undefined ? [] : [`operator console on ${console.url}`]),
    `catalog: ${live.status().path ?? 'the built-in demonstration catalog'}`,
    ...welcome,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  log.info(`serving version ${VERSION}`);

  const signal = await stopped;
  leaving = true;
  await node.drain();
  if (config.drainDelayMs > 0) {
    log.info(`${signal}: not ready any more; requests are taken for ${config.drainDelayMs} ms`);
    await Promise.race([Bun.sleep(config.drainDelayMs), stopSignal()]);
  }
  draining = true;
  await workers.refresh().catch(() => undefined);
  log.info(`${signal}: draining ${workers.load().requestsInFlight} requests`);
  const lost = await workers.drain(stopSignal());
  await console?.server.close();
  await within(MAIL_GRACE_MS, mailer.close());
  await pages.close();
  client.close();
  await pipeline.closeLimits();
  redis?.close();
  stopListening();
  stopWatching();
  clearInterval(ticking);
  clearInterval(leases);
  stopEndingHolds();
  stopFollowing();
  stopNode();
  selfAudit.close();
  await activity.flush();
  const unsettled = lost + (await store.close());
  await observation.close();
  log.info(unsettled === 0 ? 'stopped' : `stopped with ${unsettled} commands unsettled`);
  log.flush();
  return unsettled === 0 ? 0 : 1;

  function sweepReasoning(): () => void {
    const timer = setInterval(reasoning.sweep, REASONING_SWEEP_MS);
    return () => clearInterval(timer);
  }

  function reportNode(): ServingReport {
    const { version, digest } = live.status();
    const { limits, requestsInFlight } = workers.load();
    return {
      addresses: [httpUrl(config.host, server.port), ...(console ? [console.url] : [])],
      redis: limits.redis,
      limits: limits.mode,
      catalogVersion: version,
      catalogDigest: digest,
      inFlight: requestsInFlight,
    };
  }

  function createWorkers(): Workers {
    const own: OwnWork = { load: handlers.ownLoad, pipeline, log, drainMs: config.drainMs };
    if (memory === undefined) {
      return createOwnWorkers(own, { hostname: config.host, port: config.port });
    }
    return createThreadWorkers(own, {
      ...{ count: config.workers, config, context, memory, reasoningSecret, domains, selfAudit },
      ...{ observation, clock },
    });
  }

  /** Of this thread, and of those that serve beside it. */
  async function problems(): Promise<readonly string[]> {
    const silent = await workers.refresh().then(
      () => [],
      () => ['a server thread does not answer'],
    );
    const theirs = workers.ledgerProblems().flatMap((problem) => ledgerProblem(problem) ?? []);
    return [...new Set([...(await store.problems()), ...theirs, ...silent])];
  }

  async function liveRequests(): Promise<LiveRequests> {
    const { requests, unwritten, claims } = await workers.live();
    const young = new Set(unwritten);
    return {
      requests: [...requests, ...young],
      claims: claims.filter(({ requestId }) => !young.has(requestId)),
      createdBefore: clock() - AUDITED_AGE_MS,
    };
  }

  async function listen(): Promise<Listeners> {
    try {
      return await openListeners(config, dependencies, pages.console, () =>
        workers.listen(dependencies),
      );
    } catch (error) {
      await pages.close();
      await store.close();
      throw error;
    }
  }
}

function withOverrides(config: Config, options: ServeOptions): ServingConfig {
  const { port = config.port, host = config.host } = options;
  return { ...config, port, host, workers: workersOf(config) };
}
