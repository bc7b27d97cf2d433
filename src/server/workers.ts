// Who serves: the main thread by itself, or server threads beside it (`threads/`), behind one
// contract, so that what counts, audits, shows and ends a server does not ask which.

import type { UpstreamState } from '../core/health.ts';
import type { Load } from '../http/exchange.ts';
import { type GatewayServer, type ServerDependencies, startServer } from '../http/server.ts';
import type { LedgerProblem } from '../ledger/client.ts';
import type { OpenClaimRecord } from '../limits/contract.ts';
import type { Log } from '../observe/log.ts';
import type { RequestPath } from './request-path.ts';
import { drain } from './shutdown.ts';

/** What is under way, by name. */
export type Live = {
  readonly requests: readonly string[];
  /** Requests of which the books know less. */
  readonly unwritten: readonly string[];
  readonly claims: readonly OpenClaimRecord[];
};

export type Workers = {
  /** All of the process. */
  readonly threads: number;
  /** Listens for the public. Throws what the runtime throws where the address cannot be had. */
  readonly listen: (dependencies: ServerDependencies) => Promise<GatewayServer>;
  readonly load: () => Load;
  /** How upstreams do, apart from what the operator has set. */
  readonly upstreams: () => readonly UpstreamState[];
  /** Of the ledger in server threads; the main thread's own is not among them. */
  readonly ledgerProblems: () => readonly LedgerProblem[];
  /** From here on, `load` and `upstreams` are of now. */
  readonly refresh: () => Promise<void>;
  readonly live: () => Promise<Live>;
  /** What operators have changed was taken up. */
  readonly takeUp: () => void;
  /** Until when (of what has taken effect in this thread until `atMs`) it has everywhere. */
  readonly seenAt: (atMs: number) => number;
  /** Lets everything finish. Resolves with the commands that server threads could not write. */
  readonly drain: (hurry: Promise<unknown>) => Promise<number>;
};

/** The main thread's own requests, and how it ends them. */
export type OwnWork = {
  readonly path: RequestPath;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly drainMs: number;
};

/** The main thread and the ledger's. */
export function createOwnWorkers(
  own: OwnWork,
  address: { readonly hostname: string; readonly port: number },
): Workers {
  const { path, log, drainMs } = own;
  const { pipeline } = path;
  let server: GatewayServer | undefined;
  return {
    threads: 2,
    async listen(dependencies) {
      server = startServer(dependencies, address);
      return server;
    },
    load: path.load,
    upstreams: pipeline.health.states,
    ledgerProblems: () => [],
    refresh: async () => undefined,
    live: async () => path.live(),
    takeUp: () => undefined,
    seenAt: (atMs) => atMs,
    async drain(hurry) {
      if (server === undefined) return 0;
      await drain({ server, inFlight: pipeline.inFlight, log, drainMs, hurry });
      return 0;
    },
  };
}
