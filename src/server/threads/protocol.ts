// What the main thread and its server threads post to each other: plain data, and ports of the
// ledger's thread. The main thread speaks first.

import type { FoundCatalog } from '../../catalog/source.ts';
import type { Alert } from '../../core/alert.ts';
import type { UpstreamState } from '../../core/health.ts';
import type { RequestSummary } from '../../core/request-summary.ts';
import type { LedgerProblem } from '../../ledger/client.ts';
import type { OpenClaimRecord } from '../../limits/contract.ts';
import { type LimitsLoad, OWN_LIMITS } from '../../limits/load.ts';
import type { LimitMemory } from '../../limits/threads.ts';
import type { ErrorWords } from '../../observe/error-text.ts';
import type { ServingConfig } from '../base.ts';
import type { LoadedEnvironment } from '../environment.ts';

/** What a server thread is started with. */
export type ThreadStart = {
  readonly config: ServingConfig;
  readonly directory: string;
  readonly environment: LoadedEnvironment;
  /** What is in force: the main thread alone reads files. */
  readonly catalog: FoundCatalog;
  /** Of the limits, with the number of this thread. */
  readonly memory: LimitMemory;
  readonly thread: number;
  /** What kept thinking is sealed with: the same in all threads. */
  readonly reasoningSecret: string;
  /** The socket of the main thread for what it alone can answer. */
  readonly proxyPath: string;
  /** 0 for the first of them, which takes any. */
  readonly port: number;
  readonly state: SharedState;
};

/** What the main thread knows, and all threads decide by. */
export type SharedState = {
  /** What is held carries it. */
  readonly incarnation: string;
  /** From when on, by the main thread's monotonic clock, the node admits and holds nothing. */
  readonly fencedFrom: number;
  /** What to add to that clock for the time, in Unix milliseconds. */
  readonly clockBaseMs: number;
  /** How many nodes share the limits. */
  readonly liveNodes: number;
  /** Accounts whose books differ. */
  readonly stopped: readonly string[];
};

export type ToServerThread =
  | { readonly kind: 'start'; readonly start: ThreadStart }
  /** The main thread's monotonic clock, in answer to `time`. */
  | { readonly kind: 'time'; readonly nowMs: number }
  /** `writer` is for what the domains of the thread write. */
  | { readonly kind: 'ledger'; readonly port: MessagePort; readonly writer: MessagePort }
  | { readonly kind: 'ledger lost' }
  | { readonly kind: 'state'; readonly state: SharedState }
  /** Takes up what operators have changed, now; `catalog` where there is a new one. */
  | { readonly kind: 'look'; readonly catalog?: FoundCatalog }
  | { readonly kind: 'ask' }
  | { readonly kind: 'drain' }
  /** Ends what is still running. */
  | { readonly kind: 'hurry' };

export type FromServerThread =
  | { readonly kind: 'time' }
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'events'; readonly events: readonly ThreadEvent[]; readonly load: ThreadLoad }
  /** In answer to `ask`. */
  | { readonly kind: 'status'; readonly load: ThreadLoad; readonly live: ThreadLive }
  /** Everything that was committed before has taken effect in this thread. */
  | { readonly kind: 'seen'; readonly atMs: number; readonly hasChanges: boolean }
  | { readonly kind: 'drained'; readonly unsettled: number };

/** What a thread has under way, and whether it can write. */
export type ThreadLoad = {
  readonly requestsInFlight: number;
  readonly streamsOpen: number;
  readonly ledgerPending: number;
  readonly ledgerProblem: LedgerProblem;
  readonly limits: LimitsLoad;
  readonly upstreams: readonly UpstreamState[];
};

export const NO_LOAD: ThreadLoad = {
  requestsInFlight: 0,
  streamsOpen: 0,
  ledgerPending: 0,
  ledgerProblem: undefined,
  limits: OWN_LIMITS,
  upstreams: [],
};

export type ThreadLive = {
  readonly requests: readonly string[];
  readonly unwritten: readonly string[];
  readonly claims: readonly OpenClaimRecord[];
};

/** What has happened in a thread, for the log, the metrics and the console. */
export type ThreadEvent =
  | { readonly kind: 'request'; readonly summary: RequestSummary }
  | { readonly kind: 'alert'; readonly alert: Alert; readonly cause?: ErrorWords }
  | { readonly kind: 'batch'; readonly size: number; readonly durationMs: number }
  | { readonly kind: 'lag'; readonly seconds: number }
  | { readonly kind: 'info' | 'warn'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string; readonly cause?: ErrorWords };
