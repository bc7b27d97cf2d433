// What the dashboard and the console are built from. Types alone; made by `serve`.

import type { CatalogStatus } from '../catalog/live.ts';
import type { FoundCatalog } from '../catalog/source.ts';
import type { Activity } from '../core/activity.ts';
import type { ClientFormatName } from '../core/admit.ts';
import type { UpstreamState } from '../core/health.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import type { OperatorState } from '../core/operator.ts';
import type { PlaygroundCall } from '../generate/pipeline-types.ts';
import type { SignIn } from '../identity/sign-in/contract.ts';
import type { AuditState } from '../ledger/audit.ts';
import type { AccountLimits } from '../limits/contract.ts';
import type { Store } from '../operations/store.ts';
import type { Database } from '../store/contract.ts';
import type { MailMode } from './records/auth.ts';
import type { ListedNodeRecord } from './records/operator-server.ts';

/** What both applications know of the server that they are a part of. */
export type DashboardDependencies = {
  readonly store: Store;
  readonly signIn: SignIn;
  readonly mailMode: MailMode;
  readonly limits: AccountLimits;
  readonly operator: () => OperatorState;
  /** Requests under way, in the whole process. */
  readonly inFlight: () => number;
  /** The address that customers are shown, without /v1. */
  readonly baseUrl: () => string;
  /** Answers as /v1 does, refusals included. Never rejects. */
  readonly answerPlayground: (format: ClientFormatName, call: PlaygroundCall) => Promise<Response>;
  /** The server is about to end: whatever stays open has to end too. */
  readonly draining: () => boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
};

/** What the console knows beyond that. */
export type ConsoleDependencies = DashboardDependencies & {
  readonly catalog: () => Catalog;
  readonly catalogStatus: () => CatalogStatus;
  /** Loads the catalog anew; where it is refused, the status has the reasons. */
  readonly reloadCatalog: () => Promise<CatalogStatus>;
  readonly upstreams: () => readonly UpstreamState[];
  readonly warnings: () => readonly string[];
  readonly problems: () => Promise<readonly string[]>;
  readonly machine: Machine;
};

/** What of it the routes about the server and what it sells need. */
export type MachineDependencies = Omit<
  ConsoleDependencies,
  'signIn' | 'mailMode' | 'answerPlayground' | 'limits' | 'baseUrl'
>;

/** The running server itself, as its console sees it. */
export type Machine = {
  readonly activity: Activity;
  readonly audit: {
    readonly state: () => AuditState;
    /** Looks at all of the books now; `false` where an audit is under way already. */
    readonly run: () => boolean;
  };
  /** Commands of the ledger that are not on disk yet. */
  readonly ledgerPending: () => number;
  readonly streamsOpen: () => number;
  /** The catalog file as it is now. Throws `CatalogError`. */
  readonly findCatalog: () => FoundCatalog;
  /** A connection that cannot write, for one long read; who opens it closes it. */
  readonly openReader: () => Database;
  readonly node: () => NodeFacts;
  /** All that serve this database, the dead of the last day too. */
  readonly nodes: () => Promise<readonly ListedNodeRecord[]>;
};

/** The process that answers. */
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
