// This server as a node of the cluster: its heartbeat, its leadership and the leader's jobs. On
// SQLite it is the only node, and sends heartbeats only for `tollgate nodes`. Constructed with the
// database (`store.ts`), because holds carry the node's incarnation.

import { hostname } from 'node:os';
import { withTimeout } from '../async/timeout.ts';
import type { DatabaseClock } from '../cluster/clock.ts';
import { createDuties } from '../cluster/duties.ts';
import { createLeases } from '../cluster/leases.ts';
import { createMember, LEADER, type Member } from '../cluster/member.ts';
import { createNodes, type NodeReport, type Nodes } from '../cluster/nodes.ts';
import { createId, type RandomBytes } from '../core/id.ts';
import type { ListedNodeRecord } from '../dashboard/records/operator-node.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/contract.ts';
import { VERSION } from '../version.ts';
import type { Deployment } from './deployment.ts';
import { nodeRecord } from './node-record.ts';

/** Limit for deregistering from a database that may be gone. */
const DEREGISTER_MS = 2_000;

/** What a server reports with every heartbeat. */
export type ServingReport = Omit<NodeReport, 'seenAt' | 'clockOffsetMs' | 'state'>;

export type ServingNode = {
  readonly id: string;
  readonly member: Member;
  readonly nodes: Nodes;
  /** All nodes, for display. */
  readonly records: () => Promise<readonly ListedNodeRecord[]>;
  /**
   * Starts heartbeats, and starts and stops the jobs as leadership changes. Returns a function that
   * stops both.
   */
  readonly start: (
    report: () => ServingReport,
    jobs: readonly (() => () => void)[],
  ) => Promise<() => void>;
  /** Yields leadership and marks the node as draining. */
  readonly drain: () => Promise<void>;
  /** Deregisters the node, once nothing is left to do. */
  readonly leave: () => Promise<void>;
};

/** The report before `start`. */
const NOTHING: ServingReport = {
  addresses: [],
  redis: 'off',
  limits: 'own',
  catalogVersion: 0,
  catalogDigest: '',
  inFlight: 0,
};

/** Registers the node; if that fails, the node is fenced until a heartbeat succeeds. */
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
  let currentReport = (): ServingReport => NOTHING;
  const member = createMember({
    nodes,
    leases,
    clock,
    monotonic,
    log,
    fencing,
    identity: { node: id, host: hostname(), pid: process.pid, version: VERSION },
    report: () => ({ ...currentReport(), state }),
    createIncarnation: () => createId('boot_', randomBytes),
  });
  let endDuties = (): void => undefined;

  await clearNodes(nodes, leases);
  await member.beat();

  /** If the database does not answer, the other nodes evict this one later. */
  async function deregister(work: () => Promise<void>): Promise<void> {
    try {
      await withTimeout(DEREGISTER_MS, work());
    } catch (error) {
      log.error('cluster: this node could not deregister', error);
    }
  }

  return {
    id,
    member,
    nodes,
    async records() {
      const leader = await leases.holderOf(LEADER);
      return (await nodes.list()).map((row) => nodeRecord(row, leader));
    },
    async start(report, jobs) {
      currentReport = report;
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
