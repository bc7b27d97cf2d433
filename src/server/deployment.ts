// The differences between one process on its own file and a node of a cluster: recovery, clock,
// booking, leases, catalog, audit. Decided once, from the database URL; no other file checks it.

import type { Leases } from '../cluster/leases.ts';
import type { Nodes } from '../cluster/nodes.ts';
import { type RecoveryOptions, startRecovery } from '../cluster/recovery.ts';
import type { Config } from '../config/settings.ts';
import type { Log } from '../observe/log.ts';
import { databaseFile } from '../store/connect.ts';
import { ownDatabase } from '../store/owner.ts';
import { type DatabaseFileWatch, watchDatabaseFile } from '../store/sqlite-file.ts';
import {
  createAudit,
  createSharedAudit,
  type ServingAudit,
  type ServingAuditOptions,
} from './audit.ts';
import { type Backups, createServingBackups, type ServingBackupsOptions } from './backups.ts';
import {
  createSharedCatalog,
  type SharedCatalog,
  type SharedCatalogOptions,
} from './shared-catalog.ts';

type Clock = () => number;

type Stop = () => void;

/** Whether an answer waits for its bill without a limit. */
export type BookingLimit =
  | { readonly kind: 'awaited' }
  | { readonly kind: 'bounded'; readonly timeoutMs: number };

export type Deployment = {
  /** The clock for all dates: the machine's, or the database's, on which all nodes agree. */
  readonly clock: (clocks: { readonly machine: Clock; readonly database: Clock }) => Clock;
  /** How long an answer waits until its bill is booked. */
  readonly booking: BookingLimit;
  /** Locks the database for this process. Throws `StoreError` where another server has the lock. */
  readonly lock: () => Stop;
  /** When the holds of dead processes are recovered: at each start, or by the leader as it runs. */
  readonly recovery: 'start' | 'leader';
  readonly recoverNodes: (options: RecoveryOptions) => Stop;
  /** Which holds a node sweeps: all of them, or those of its own incarnation. */
  readonly ownHolds: (incarnation: string) => { readonly incarnations?: readonly string[] };
  /**
   * Whether a node that misses heartbeats must stop admitting, because others take over its work.
   */
  readonly fencing: 'none' | 'heartbeat';
  /** Removes the nodes of earlier processes, where the lock proves that none is alive. */
  readonly clearNodes: (nodes: Nodes, leases: Leases) => Promise<void>;
  readonly watchFile: (clock: Clock) => DatabaseFileWatch | undefined;
  /** Called when a bill goes to a database that this node may no longer use. */
  readonly onUnbooked: (log: Pick<Log, 'error'>) => ((requestId: string) => void) | undefined;
  readonly catalog: (options: () => SharedCatalogOptions) => SharedCatalog | undefined;
  readonly audit: (options: ServingAuditOptions) => ServingAudit;
  /** `undefined` where the server makes no backups; PostgreSQL has its own tools for it. */
  readonly backups: (options: ServingBackupsOptions) => Backups | undefined;
  /**
   * Where usage is aggregated: in the ledger's thread, or by the leader over its own connection.
   */
  readonly addUp: (ledgerThread: () => Promise<void>) => (() => Promise<void>) | undefined;
  /** Whether there is a secret that survives a restart and that all nodes share. */
  readonly hasSecret: (config: Pick<Config, 'sessionSecret'>) => boolean;
  /** Problems with the settings for this deployment. */
  readonly warnings: (config: Pick<Config, 'sessionSecret'>) => readonly string[];
};

/**
 * How long the end of an answer waits for a failing disk. In a cluster it waits until the bill is
 * booked: another node may end the hold of a disconnected one, so only a booked bill is final.
 */
const BOOKING_MS = 5_000;

const nothing: Stop = () => undefined;

export function deploymentOf(databaseUrl: string): Deployment {
  const file = databaseFile(databaseUrl);
  return file === undefined ? CLUSTER : single(databaseUrl, file);
}

function single(url: string, file: string): Deployment {
  return {
    clock: ({ machine }) => machine,
    booking: { kind: 'bounded', timeoutMs: BOOKING_MS },
    lock: () => ownDatabase(url),
    recovery: 'start',
    recoverNodes: () => nothing,
    ownHolds: () => ({}),
    fencing: 'none',
    async clearNodes(nodes, leases) {
      await Promise.all([nodes.removeAll(), leases.removeAll()]);
    },
    watchFile: (clock) => watchDatabaseFile(file, clock),
    onUnbooked: (log) => (requestId) =>
      log.error(
        `unbooked ${requestId}: its bill is in a database file that is no longer in place; it is lost unless that file comes back`,
      ),
    catalog: () => undefined,
    audit: createAudit,
    backups: (options) => createServingBackups(file, options),
    addUp: (ledgerThread) => ledgerThread,
    hasSecret: () => true,
    warnings: () => [],
  };
}

const CLUSTER: Deployment = {
  clock: ({ database }) => database,
  booking: { kind: 'awaited' },
  lock: () => nothing,
  recovery: 'leader',
  recoverNodes: startRecovery,
  ownHolds: (incarnation) => ({ incarnations: [incarnation] }),
  fencing: 'heartbeat',
  clearNodes: async () => undefined,
  watchFile: () => undefined,
  onUnbooked: () => undefined,
  catalog: (options) => createSharedCatalog(options()),
  audit: createSharedAudit,
  backups: () => undefined,
  addUp: () => undefined,
  hasSecret: ({ sessionSecret }) => sessionSecret !== undefined,
  warnings: ({ sessionSecret }) =>
    sessionSecret === undefined
      ? [
          'SESSION_SECRET is not set, and nodes need the same one: users cannot sign in, Idempotency-Key is ignored, and kept thinking is lost when this server ends',
        ]
      : [],
};
