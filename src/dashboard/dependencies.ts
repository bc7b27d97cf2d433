// The dependencies of the dashboard and the console. Types only; built by `serve`.

import type { CatalogStatus } from '../catalog/live.ts';
import type { FoundCatalog } from '../catalog/source.ts';
import type { Activity } from '../core/activity.ts';
import type { ClientFormatName } from '../core/admit.ts';
import type { UpstreamState } from '../core/health.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import type { Micro } from '../core/money.ts';
import type { Sentence } from '../core/sentence.ts';
import type { ServiceState } from '../core/service-state.ts';
import type { PlaygroundCall } from '../generate/pipeline-types.ts';
import type { Trial } from '../generate/trial.ts';
import type { SignIn } from '../identity/sign-in/contract.ts';
import type { AuditState } from '../ledger/audit.ts';
import type { AccountLimits } from '../limits/contract.ts';
import type { Store } from '../operations/store.ts';
import type { TopUps } from '../operations/top-ups.ts';
import type { Database } from '../store/contract.ts';
import type { MailMode } from './records/auth.ts';
import type { ListedNodeRecord } from './records/operator-node.ts';

/** The dependencies of both applications. */
export type DashboardDependencies = {
  readonly store: Store;
  readonly signIn: SignIn;
  readonly topUps: TopUps;
  readonly mailMode: MailMode;
  readonly limits: AccountLimits;
  readonly serviceState: () => ServiceState;
  /** Active requests of the whole process. */
  readonly inFlight: () => number;
  /** The base URL shown to customers, without /v1. */
  readonly baseUrl: () => string;
  /** Whether the Responses format is served. */
  readonly offersResponses: boolean;
  /** Answers like /v1, errors included. Never rejects. */
  readonly answerPlayground: (format: ClientFormatName, call: PlaygroundCall) => Promise<Response>;
  /** Aborted when the server shuts down; open streams must end then. */
  readonly draining: () => boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** The folder of archived months; absent where the settings name none. */
  readonly archives: string | undefined;
};

/** The additional dependencies of the console. */
export type ConsoleDependencies = DashboardDependencies & {
  readonly catalog: () => Catalog;
  /** Movements above this amount need a second operator; absent: none. */
  readonly fourEyesAbove: Micro | undefined;
  readonly catalogStatus: () => CatalogStatus;
  /** Reloads the catalog. If it is rejected, the status contains the reasons. */
  readonly reloadCatalog: () => Promise<CatalogStatus>;
  readonly upstreams: () => readonly UpstreamState[];
  /** What `/readyz` lists for the operator. */
  readonly warnings: () => readonly Sentence[];
  readonly problems: () => Promise<readonly Sentence[]>;
  readonly machine: Machine;
};

/** The subset used by the routes for the server and the catalog. */
export type MachineDependencies = Omit<
  ConsoleDependencies,
  | 'fourEyesAbove'
  | 'signIn'
  | 'topUps'
  | 'mailMode'
  | 'answerPlayground'
  | 'limits'
  | 'baseUrl'
  | 'offersResponses'
>;

/** The running server as seen by its console. */
export type Machine = {
  readonly activity: Activity;
  readonly audit: {
    readonly state: () => AuditState;
    /** Audits the whole ledger now; `false` if an audit is already running. */
    readonly run: () => boolean;
  };
  /** Stores the alerts of this process, so that a list has all of them. Never rejects. */
  readonly storeAlerts: () => Promise<void>;
  /** Ledger commands that are not on disk yet. */
  readonly ledgerPending: () => number;
  readonly streamsOpen: () => number;
  /** The current catalog file. Throws `CatalogError`. */
  readonly findCatalog: () => FoundCatalog;
  /** The names of the server's own settings in the environment. */
  readonly settings: ReadonlySet<string>;
  /** Tests a candidate with short requests, which its upstream charges for. Never rejects. */
  readonly trial: Trial;
  /** A read-only connection for one long read. The caller closes it. */
  readonly openReader: () => Database;
  readonly node: () => NodeFacts;
  /** All nodes of this database, including those that ended within the last day. */
  readonly nodes: () => Promise<readonly ListedNodeRecord[]>;
};

/** The process that handles the request. */
type NodeFacts = {
  readonly id: string;
  readonly version: string;
  readonly runtime: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
};
