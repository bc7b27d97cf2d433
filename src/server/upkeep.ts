// Constructs what works beside requests: the audit of the books, backups, archives of past months,
// the store of alerts, and the messages between nodes.

import type { LiveRequests } from '../ledger/audit.ts';
import { databaseBegan } from '../store/server-notes.ts';
import { createAlertKeeper } from './alert-keeper.ts';
import { type Announcements, createAnnouncements } from './announcements.ts';
import type { ServingAudit } from './audit.ts';
import type { Backups } from './backups.ts';
import type { Base } from './base.ts';
import type { RequestPath } from './request-path.ts';
import { createRetention, type Retention } from './retention.ts';
import type { ServingStore } from './store.ts';

export type Upkeep = {
  readonly audit: ServingAudit;
  /** Undefined without BACKUP_DIR. */
  readonly backups: Backups | undefined;
  /** Undefined where all requests stay in the database. */
  readonly retention: Retention | undefined;
  /** The folder of archived months. */
  readonly archives: string | undefined;
  /** Stores raised alerts for the console. */
  readonly storeAlerts: () => Promise<void>;
  readonly announcements: Announcements;
};

export type UpkeepOptions = {
  readonly base: Base;
  readonly store: ServingStore;
  readonly path: RequestPath;
  readonly archives: string | undefined;
};

/** The audit skips younger requests: their hold may be about to begin or to end. */
const AUDITED_AGE_MS = 60_000;

export function createUpkeep({ base, store, path, archives }: UpkeepOptions): Upkeep {
  const { config, deployment, clock, monotonic, randomBytes, observation } = base;
  const { log, alert, raised, heardGroups } = observation;
  const { database } = store;
  return {
    audit: deployment.audit({
      database,
      incarnation: store.node.member.incarnation,
      url: config.databaseUrl,
      everyMs: config.auditMs,
      live: () => liveRequests(path, clock),
      clock,
      log,
      alert,
    }),
    backups: deployment.backups({
      config,
      clock,
      monotonic,
      log,
      alert,
      isInPlace: () => store.file?.loss() === undefined,
      beganMs: (afterMs) => databaseBegan(database, clock(), afterMs),
    }),
    retention: retentionOf(base, archives),
    archives,
    storeAlerts: createAlertKeeper({ database, raised, heard: heardGroups, randomBytes, log }),
    announcements: createAnnouncements(path.redis),
  };
}

function retentionOf(base: Base, directory: string | undefined): Retention | undefined {
  const { config, clock, monotonic, observation } = base;
  const { databaseUrl: url, retentionDays } = config;
  if (retentionDays === 'off' || directory === undefined) return undefined;
  const { log, alert } = observation;
  return createRetention({ url, directory, retentionDays, clock, monotonic, log, alert });
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
