// This server as a node: its heartbeat, whether it leads, and what only the leader does. On SQLite it
// is the only node there can be, and says that it lives for `tollgate nodes` alone. Made with the
// database of a server (`store.ts`), because what it holds carries the node's boot.

import { hostname } from 'node:os';
import { withTimeout } from '../async/timeout.ts';
import type { DatabaseClock } from '../cluster/clock.ts';
import { createDuties } from '../cluster/duties.ts';
import { createLeases } from '../cluster/leases.ts';
import { createMember, LEADER, type Member } from '../cluster/member.ts';
import { createNodes, type NodeReport, type Nodes } from '../cluster/nodes.ts';
import { createId, type RandomBytes } from '../core/id.ts';
import type { ListedNodeRecord } from '../dashboard/records/operator-server.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import { VERSION } from '../version.ts';
import type { Deployment } from './deployment.ts';
import { nodeRecord } from './node-record.ts';

/** For the last words to a database that may be gone. */
const DEREGISTER_MS = 2_000;

/** What a server tells of itself with every heartbeat. */
export type ServingReport = Omit<NodeReport, 'seenAt' | 'clockOffsetMs' | 'state'>;

export type ServingNode = {
  readonly id: string;
  readonly member: Member;
  readonly nodes: Nodes;
  /** All nodes, as they are shown. */
  readonly records: () => Promise<readonly ListedNodeRecord[]>;
  /**
   * Beats from now on, and begins and ends the jobs as the lead comes and goes. Returns what ends
   * both.
   */
  readonly start: (
    report: () => ServingReport,
    jobs: readonly (() => () => void)[],
  ) => Promise<() => void>;
  /** It is about to end: gives up the lead and says that it drains. */
  readonly drain: () => Promise<void>;
  /** Its last word, once nothing is left. */
  readonly leave: () => Promise<void>;
};

/** Before `start`, nothing is known of it but that it is there. */
const NOTHING: ServingReport = {
  ...{ addresses: [], redis: 'off', limits: 'own', catalogVersion: 0, catalogDigest: '' },
  inFlight: 0,
};

/** Registers the node; where that fails, it is fenced until a later heartbeat is heard. */
export async function openServingNode(options: {
  readonly deployment: Pick<Deployment, 'fencing' | 'clearNodes'>;
  readonly database: Database;
  readonly clock: DatabaseClock;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly randomBytes: RandomBytes;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}): Promise<ServingNode> {
  const { database, clock, monotonic, randomBytes, log } = options;
  const { fencing, clearNodes } = options.deployment;
  const nodes = createNodes(database);
  const leases = createLeases(database);
  const id = createId('node_', randomBytes);
  let state: NodeReport['state'] = 'serving';
  let tell = (): ServingReport => NOTHING;
  const member = createMember({
    ...{ nodes, leases, clock, monotonic, log, fencing },
    identity: { node: id, host: hostname(), pid: process.pid, version: VERSION },
    report: () => ({ ...tell(), state }),
    createIncarnation: () => createId('boot_', randomBytes),
  });
  let endDuties = (): void => undefined;

  await clearNodes(nodes, leases);
  await member.beat();

  /** If the database does not answer, the others evict this node later, which does as well. */
  async function deregister(work: () => Promise<void>): Promise<void> {
    try {
      await withTimeout(DEREGISTER_MS, work());
    } catch (error) {
      log.error('cluster: this node could not say that it ends', error);
    }
  }

  return {
    ...{ id, member, nodes },
    async records() {
      const leader = await leases.holderOf(LEADER);
      return (await nodes.list()).map((row) => nodeRecord(row, leader));
    },
    async start(report, jobs) {
      tell = report;
      const duties = createDuties(member.isLeader, jobs);
      endDuties = duties.close;
      await member.beat();
      duties.settle();
      const stop = member.start(duties.settle);
      return () => {
        stop();
        duties.close();
      };
    },
    async drain() {
      state = 'draining';
      endDuties();
      await deregister(async () => {
        await member.resign();
        await member.beat();
      });
    },
    leave: () => deregister(member.leave),
  };
}
