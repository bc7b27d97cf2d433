// Constructs all parts of a server, in the order of their dependencies. Starts nothing: serve does.

import { createLiveCatalog } from '../catalog/live.ts';
import { createDatabaseClock } from '../cluster/clock.ts';
import type { RandomBytes } from '../core/id.ts';
import { signInSecret } from '../identity/sign-in/secret.ts';
import type { LiveRequests } from '../ledger/audit.ts';
import { archiveDirectory } from '../operations/archive/files.ts';
import { databaseBegan } from '../store/server-notes.ts';
import { createAlertKeeper } from './alert-keeper.ts';
import { createAnnouncements } from './announcements.ts';
import type { Base, ServingConfig } from './base.ts';
import { createCatalogFile } from './catalog-file.ts';
import { deploymentOf } from './deployment.ts';
import type { Inputs } from './inputs.ts';
import { createObservation } from './observation.ts';
import { createRequestPath, type RequestPath } from './request-path.ts';
import { createRetention, type Retention } from './retention.ts';
import { openServingStore } from './store.ts';
import { createServingSurface, type ServingStage } from './surface.ts';

export type ServingParts = Awaited<ReturnType<typeof createServingParts>>;

/** The audit skips younger requests: their hold may be about to begin or to end. */
const AUDITED_AGE_MS = 60_000;

/** Throws as `openServingStore` does. */
export async function createServingParts(inputs: Inputs, config: ServingConfig) {
  const base = createBase(inputs, config);
  try {
    return await createOver(base, inputs, config);
  } catch (error) {
    await base.observation.log.close();
    throw error;
  }
}

async function createOver(
  base: ReturnType<typeof createBase>,
  inputs: Inputs,
  config: ServingConfig,
) {
  const { deployment, clock, randomBytes, observation } = base;
  const { log, alert } = observation;
  const stage: ServingStage = { listeners: undefined, isLeaving: false, isDraining: false };
  const first = inputs.loadedCatalog();
  const file = createCatalogFile(inputs);
  const catalog = { file, live: createLiveCatalog({ first, read: file.read, clock }) };
  const store = await openServingStore({
    ...base,
    usdPerMillion: () => catalog.live.current().usdPerMillion,
  });
  const { database, ledger } = store;
  const { incarnation, liveNodes } = store.node.member;
  const { secret: sealing, warnings: secretWarnings } = idempotencySecret(base);
  const path = await createRequestPath({
    ...{ ...base, catalog, database, ledger, liveNodes, incarnation },
    idempotencySecret: sealing,
    sharedCatalog: deployment.catalog(() => ({
      change: { database, clock, randomBytes, actor: 'system' },
      file,
      isAnybodyElse: () => liveNodes() > 1,
    })),
  });
  const { domains, pipeline, handlers } = path;
  const announcements = createAnnouncements(path.redis);
  const selfAudit = deployment.audit({
    ...{ database, incarnation, clock, log, alert },
    ...{ url: config.databaseUrl, everyMs: config.auditMs },
    live: () => liveRequests(path, clock),
  });
  const storeAlerts = createAlertKeeper({
    ...{ database, raised: observation.raised, heard: observation.heardGroups },
    ...{ randomBytes, log },
  });
  const backups = deployment.backups({
    ...{ config, clock, monotonic: base.monotonic, log, alert },
    isInPlace: () => store.file?.loss() === undefined,
    beganMs: (afterMs) => databaseBegan(database, clock(), afterMs),
  });
  const retention = retentionOf(base, inputs);
  const surface = createServingSurface({
    ...{ ...base, domains, serving: store, pipeline, selfAudit, handlers, announcements, backups },
    ...{ stage, storeAlerts, retention, secretWarnings },
    archives: archiveDirectory(config, inputs.directory),
  });
  return {
    ...{ ...base, ...surface, storeAlerts, stage, domains, store, path, announcements, selfAudit },
    ...{ backups, retention },
  };
}

/** What all parts share: settings, clocks, randomness, and the operators' log and alerts. */
function createBase(inputs: Inputs, config: ServingConfig) {
  const deployment = deploymentOf(config.databaseUrl);
  // A request reads it ten times, and `performance.now` takes twice as long.
  const monotonic = (): number => Bun.nanoseconds() / 1_000_000;
  const databaseClock = createDatabaseClock({ wall: inputs.clock, monotonic });
  const clock = deployment.clock({ machine: inputs.clock, database: databaseClock.now });
  const randomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));
  const observation = createObservation({ config, clock, monotonic });
  for (const warning of deployment.warnings(config)) observation.log.warn(warning);
  const reasoningSecret = config.sessionSecret ?? Buffer.from(randomBytes(32)).toString('hex');
  return {
    ...{ config, deployment, clock, monotonic, databaseClock, randomBytes, observation },
    reasoningSecret,
  };
}

type KeptSecret = {
  /** Undefined where answers are not kept: disabled, or nothing is secret here. */
  readonly secret: string | undefined;
  readonly warnings: readonly string[];
};

const IGNORED =
  'Idempotency-Key is ignored, because the secret could not be read at the start: repair it and restart; see the log';

/** It must survive a restart, because a repeat that is not recognized is charged again. */
function idempotencySecret(base: ReturnType<typeof createBase>): KeptSecret {
  const { config, deployment, randomBytes, observation } = base;
  const { idempotency, sessionSecret, databaseUrl } = config;
  if (idempotency === 'off' || !deployment.hasSecret(config)) {
    return { secret: undefined, warnings: [] };
  }
  try {
    return { secret: signInSecret({ sessionSecret, databaseUrl, randomBytes }), warnings: [] };
  } catch (error) {
    observation.log.error('Idempotency-Key is ignored: no secret seals the kept answers', error);
    return { secret: undefined, warnings: [IGNORED] };
  }
}

/** `undefined` where all requests stay in the database. */
function retentionOf(
  { config, clock, monotonic, observation }: Base,
  { directory: home }: Inputs,
): Retention | undefined {
  const { databaseUrl: url, retentionDays } = config;
  const directory = archiveDirectory(config, home);
  if (retentionDays === 'off' || directory === undefined) return undefined;
  return createRetention({
    ...{ url, directory, retentionDays, clock, monotonic },
    ...{ log: observation.log, alert: observation.alert },
  });
}

function liveRequests(path: RequestPath, clock: () => number): LiveRequests {
  const { requests, unwritten, claims } = path.live();
  const young = new Set(unwritten);
  return {
    requests: [...requests, ...young],
    claims: claims.filter(({ requestId }) => !young.has(requestId)),
    createdBefore: clock() - AUDITED_AGE_MS,
  };
}
