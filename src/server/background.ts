// Starts and stops what a server runs beside requests: its timers, its heartbeat, the leader's jobs
// and polling for changes.

import { every, type Stop } from '../async/every.ts';
import { httpUrl, publicUrl } from '../config/urls.ts';
import { sweepRefusals } from '../refusals/sweep.ts';
import { ALERTS_STORED_EVERY_MS } from './alert-keeper.ts';
import type { ServingParts } from './compose.ts';
import type { Listeners } from './listeners.ts';
import type { ServingReport } from './node.ts';
import { createRunawayGuard } from './runaway-guard.ts';
import { startServingSeries } from './series.ts';

/** How often a few expired rows of kept thinking, or of kept answers, are removed. */
const KEPT_SWEEP_MS = 1_000;

const REFUSALS_SWEEP_MS = 5 * 60_000;

/** How often a node reads again how much is kept where that may have changed elsewhere. */
const KEPT_RECOUNT_MS = 5 * 60_000;

/** Returns a function that stops all of it. */
export async function startRunning(parts: ServingParts, listeners: Listeners): Promise<Stop> {
  const { store, path, upkeep } = parts;
  const { audit, announcements } = upkeep;
  const { member, start } = store.node;
  const stopEndingHolds = store.endLostHolds(() => path.live().requests);
  const stopWatchingFile = watchFile(parts);
  const stopFollowing = audit.follow();
  const stopNode = await start(() => reportOf(parts, listeners), leaderJobs(parts, listeners));
  const stopPath = path.start(member.seen);
  const stopStoring = every(ALERTS_STORED_EVERY_MS, upkeep.storeAlerts);
  const stopBackups = upkeep.backups?.start();
  const stopRecounting = every(KEPT_RECOUNT_MS, () =>
    path.domains.kept.refresh(member.liveNodes() > 1),
  );
  const stopListening = announcements.listen(path.domains.serviceStates.lookSoon);
  return () => {
    stopListening();
    stopRecounting();
    stopBackups?.();
    stopStoring();
    stopPath();
    stopEndingHolds();
    stopWatchingFile();
    stopFollowing();
    stopNode();
  };
}

/** Logs once that the database file is gone, with the requests that this affects. */
function watchFile({ base, store, path }: ServingParts): Stop {
  const { log, alert } = base.observation;
  const stop = store.file?.start(async (loss, sinceMs) => {
    if (loss === undefined) {
      log.warn('the database file is back in its place, and requests are served again');
      return;
    }
    const { requests, unwritten } = path.live();
    const ids = [...new Set([...requests, ...unwritten])];
    alert({ kind: 'database_lost', requests: ids.length, sinceMs });
    if (ids.length > 0)
      log.error(`requests running while the database file was lost: ${ids.join(', ')}`);
  });
  return () => stop?.();
}

/**
 * The jobs of the leader. A leader that was paused may continue a job while its successor runs it,
 * so no job relies on leadership; the lease number is only informational. The database decides: a
 * node is evicted only if its heartbeat is still the one that was read, and stays evicted; a hold
 * ends once; usage is aggregated under the lock of its marker; the later of two audits wins; sweeps
 * are idempotent; a deletion is checked again in its own transaction; a month is archived once, and
 * only rows of archived months can be removed; a key is paused once, and its mail is marked as sent.
 */
function leaderJobs(parts: ServingParts, { server }: Listeners) {
  const { base, store, upkeep, surface } = parts;
  const { config, clock, monotonic } = base;
  const { reasoning, idempotency } = parts.path.domains;
  const { audit, retention } = upkeep;
  const { database } = store;
  const { log } = base.observation;
  const sweepOldRefusals = () =>
    sweepRefusals(database, clock()).catch((error: unknown) =>
      log.error('old refused requests could not be removed', error),
    );
  return [
    store.recoverNodes,
    audit.begin,
    ...(retention === undefined ? [] : [retention.begin]),
    surface.pages.sweepExpired,
    (): Stop => every(KEPT_SWEEP_MS, reasoning.sweep),
    (): Stop => every(KEPT_SWEEP_MS, async () => idempotency?.sweep()),
    (): Stop => every(REFUSALS_SWEEP_MS, sweepOldRefusals),
    (): Stop =>
      startServingSeries({
        database,
        url: config.databaseUrl,
        monotonic,
        log,
        addUp: store.addUp,
      }),
    ...(config.runawayFactor === 'off' ? [] : [guardKeys(parts, config.runawayFactor, server)]),
  ];
}

function guardKeys(
  { base, store, path, upkeep, surface }: ServingParts,
  factor: number,
  { port }: Listeners['server'],
): () => Stop {
  const { config, clock, monotonic, observation } = base;
  const { log, alert } = observation;
  const { keys, serviceStates } = path.domains;
  return createRunawayGuard({
    database: store.database,
    keys,
    clock,
    monotonic,
    limits: { factor, floor: config.runawayFloor },
    log,
    alert,
    mail: surface.mailer.send,
    writeMail: surface.writeMail,
    pages: () => `${publicUrl(config, port)}/dashboard`,
    onPause() {
      void serviceStates.look();
      void upkeep.announcements.announce();
    },
  }).begin;
}

function reportOf({ base, path }: ServingParts, listeners: Listeners): ServingReport {
  const { config } = base;
  const { server } = listeners;
  const console = listeners.console();
  const { version, digest } = path.domains.live.status();
  const { limits, requestsInFlight } = path.load();
  return {
    addresses: [httpUrl(config.host, server.port), ...(console ? [console.url] : [])],
    redis: limits.redis,
    limits: limits.mode,
    catalogVersion: version,
    catalogDigest: digest,
    inFlight: requestsInFlight,
  };
}
