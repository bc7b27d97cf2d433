// What a server does beside answering, from the moment on at which it listens: timers of its own, its
// life as a node, the jobs of the leader, and hearing of changes. Begun and ended by serve.

import { every, type Stop } from '../async/every.ts';
import { httpUrl } from '../config/urls.ts';
import type { ServingParts } from './compose.ts';
import type { Listeners } from './listeners.ts';
import type { ServingReport } from './node.ts';
import { startServingSeries } from './series.ts';

/** How often a few old rows of kept thinking are removed. */
const REASONING_SWEEP_MS = 1_000;

/** Returns what ends all of it. */
export async function startRunning(parts: ServingParts, listeners: Listeners): Promise<Stop> {
  const { store, path, selfAudit, announcements } = parts;
  const { member, start } = store.node;
  const stopEndingHolds = store.endLostHolds(() => path.live().requests);
  const stopWatchingFile = watchFile(parts);
  const stopFollowing = selfAudit.follow();
  const stopNode = await start(() => reportOf(parts, listeners), leaderJobs(parts));
  const stopPath = path.start(member.seen);
  const stopListening = announcements.listen(path.domains.operators.lookSoon);
  return () => {
    stopListening();
    stopPath();
    stopEndingHolds();
    stopWatchingFile();
    stopFollowing();
    stopNode();
  };
}

/** Tells once that the file of the database is not in its place, and which requests that concerns. */
function watchFile({ store, path, observation }: ServingParts): Stop {
  const { log, alert } = observation;
  const stop = store.file?.start(async (loss, sinceMs) => {
    if (loss === undefined) {
      log.warn('the database file is back in its place, and requests are served again');
      return;
    }
    const { requests, unwritten } = path.live();
    const ids = [...new Set([...requests, ...unwritten])];
    alert({ kind: 'database_lost', requests: ids.length, sinceMs });
    if (ids.length > 0) log.error(`under way while the database file was lost: ${ids.join(', ')}`);
  });
  return () => stop?.();
}

/**
 * What one node does for all. A leader that stood still may go on with a job while its successor is at
 * it, so none of them relies on the lead: the database decides, and the number of the lease is for
 * people. A node is evicted only while its heartbeat is the one that was seen, and an incarnation that
 * is evicted stays so; a hold has one end; usage is added up under the lock of its mark; of two audits,
 * the later look counts; what is swept is over, whoever sweeps it, and a deletion is looked at again
 * in its own transaction.
 */
function leaderJobs({ store, selfAudit, pages, domains, observation, ...parts }: ServingParts) {
  const { config, monotonic } = parts;
  const { database } = store;
  const { log } = observation;
  return [
    store.recoverNodes,
    selfAudit.begin,
    pages.sweepSignIn,
    (): Stop => every(REASONING_SWEEP_MS, domains.reasoning.sweep),
    (): Stop =>
      startServingSeries({
        ...{ database, url: config.databaseUrl, monotonic, log },
        addUp: store.addUp,
      }),
  ];
}

function reportOf({ config, domains, path }: ServingParts, listeners: Listeners): ServingReport {
  const { server } = listeners;
  const console = listeners.console();
  const { version, digest } = domains.live.status();
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
