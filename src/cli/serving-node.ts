// This server as a node: its heartbeat, whether it leads, and what only the leader does. On SQLite it
// is the only node there can be, and says that it lives for `tollgate nodes` alone. Made by serve.

import { hostname } from 'node:os';
import type { DatabaseClock } from '../cluster/clock.ts';
import { createDuties } from '../cluster/duties.ts';
import { createLeases } from '../cluster/leases.ts';
import { createMember, type Member } from '../cluster/member.ts';
import { createNodes, type NodeReport, type Nodes } from '../cluster/nodes.ts';
import { createId, type RandomBytes } from '../core/id.ts';
import { within } from '../generate/within.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import { VERSION } from '../version.ts';

/** For the last words to a database that may be gone. */
const FAREWELL_MS = 2_000;

export type ServingNode = {
  readonly id: string;
  readonly member: Member;
  readonly nodes: Nodes;
  /** Beats from now on, and begins and ends jobs as the lead comes and goes. Returns what ends it. */
  readonly start: (jobs: readonly (() => () => void)[]) => () => void;
  /** It is about to end: gives up the lead, and says that it drains. */
  readonly drain: () => Promise<void>;
  /** Its last word, once nothing is left. */
  readonly leave: () => Promise<void>;
};

export function createServingNode(options: {
  readonly database: Database;
  readonly workers: number;
  readonly clock: DatabaseClock;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly randomBytes: RandomBytes;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly report: () => Omit<NodeReport, 'seenAt' | 'clockOffsetMs' | 'state'>;
}): ServingNode {
  const { database, workers, clock, monotonic, randomBytes, log, report } = options;
  const nodes = createNodes(database);
  const id = createId('node_', randomBytes);
  let state: NodeReport['state'] = 'serving';
  const member = createMember({
    ...{ nodes, clock, monotonic, log },
    leases: createLeases(database),
    identity: { node: id, host: hostname(), pid: process.pid, version: VERSION, workers },
    report: () => ({ ...report(), state }),
    createBoot: () => createId('boot_', randomBytes),
    isAlone: database.dialect === 'sqlite',
  });
  let close: (() => void) | undefined;

  /** A node that cannot say goodbye is held for dead after a while, and that does as well. */
  async function farewell(work: () => Promise<void>): Promise<void> {
    try {
      await within(FAREWELL_MS, work());
    } catch (error) {
      log.error('cluster: this node could not say that it ends', error);
    }
  }

  return {
    ...{ id, member, nodes },
    start(jobs) {
      const duties = createDuties(member.isLeader, jobs);
      const stop = member.start(duties.settle);
      duties.settle();
      close = duties.close;
      return () => {
        stop();
        duties.close();
      };
    },
    async drain() {
      state = 'draining';
      close?.();
      await farewell(async () => {
        await member.resign();
        await member.beat();
      });
    },
    leave: () => farewell(member.leave),
  };
}
